#include "cdi/hook_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace ctkit::cdi {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

Error mistake(std::string message) {
  return {.code = ErrorCode::usage, .message = std::move(message)};
}

struct HookName {
  std::string_view name = {};
  ContainerHook hook = ContainerHook::none;
};

constexpr std::array<HookName, 6> kHooks = {{
    {"noop", ContainerHook::noop},
    {"create-symlinks", ContainerHook::create_symlinks},
    {"update-ldcache", ContainerHook::update_ldcache},
    {"enable-cuda-compat", ContainerHook::enable_cuda_compat},
    {"disable-device-node-modification", ContainerHook::disable_device_node_modification},
    {"chmod", ContainerHook::chmod},
}};

/// `--name value`, `--name=value`, with one dash or two.
struct Flag {
  std::string_view name = {};
  std::optional<std::string_view> value = {};
};

std::optional<Flag> as_flag(std::string_view word) {
  if (!word.starts_with('-') || word == "-") return std::nullopt;
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return Flag{.name = word};
  return Flag{.name = word.substr(0, equals), .value = word.substr(equals + 1)};
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

class Parser {
 public:
  explicit Parser(std::span<const std::string> arguments) : arguments_(arguments) {}

  Result<HookRequest> run() {
    while (at_ < arguments_.size()) {
      const auto flag = as_flag(arguments_[at_]);
      if (!flag) break;
      if (!take_global(*flag)) return request_;  // as if there were no hook
      ++at_;
    }
    if (at_ == arguments_.size()) return request_;
    request_.name = arguments_[at_++];
    const auto known = std::ranges::find(kHooks, request_.name, &HookName::name);
    request_.hook = known == kHooks.end() ? ContainerHook::unsupported : known->hook;
    if (request_.hook == ContainerHook::unsupported || request_.hook == ContainerHook::noop) return request_;
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_++];
      if (word == "--") break;
      const auto flag = as_flag(word);
      if (!flag) continue;  // text between flags is not looked at
      if (auto taken = take(*flag); !taken) return std::unexpected(taken.error());
    }
    if (request_.hook == ContainerHook::chmod) {
      if (auto checked = check_mode(); !checked) return std::unexpected(checked.error());
    }
    return request_;
  }

 private:
  bool take_global(const Flag& flag) {
    if (flag.name == "quiet") {
      request_.quiet = flag.value.value_or("true") != "false";
      return true;
    }
    return flag.name == "debug" || flag.name == "d";
  }

  Result<void> take(const Flag& flag) {
    using enum ContainerHook;
    if (flag.name == "container-spec") return put(flag, request_.container_spec);
    switch (request_.hook) {
      case create_symlinks:
        if (flag.name == "link") return append(flag, request_.links);
        break;
      case update_ldcache:
        if (flag.name == "folder") return append(flag, request_.folders);
        if (flag.name == "ldconfig-path") return put(flag, request_.ldconfig);
        break;
      case enable_cuda_compat:
        if (flag.name == "host-driver-version") return put(flag, request_.host_driver_version);
        if (flag.name == "host-cuda-version") return put(flag, request_.host_cuda_version);
        if (flag.name == "cuda-compat-container-root") return put(flag, request_.compat_folder);
        break;
      case chmod:
        if (flag.name == "mode") return put(flag, mode_);
        if (flag.name == "path") return append(flag, request_.paths);
        break;
      case none:
      case unsupported:
      case noop:
      case disable_device_node_modification:
        break;
    }
    return std::unexpected(mistake("flag provided but not defined: -" + std::string(flag.name)));
  }

  Result<void> put(const Flag& flag, std::string& value) {
    if (flag.value) {
      value = *flag.value;
    } else if (at_ < arguments_.size()) {
      value = arguments_[at_++];
    } else {
      return std::unexpected(mistake("flag needs an argument: -" + std::string(flag.name)));
    }
    return {};
  }

  Result<void> append(const Flag& flag, std::vector<std::string>& values) {
    std::string value;
    if (auto done = put(flag, value); !done) return done;
    values.push_back(std::move(value));
    return {};
  }

  Result<void> check_mode() {
    constexpr unsigned kAllBits = 07777;
    if (is_blank(mode_)) return std::unexpected(mistake("a mode that is not empty must be given"));
    unsigned mode = 0;
    const auto [end, error] = std::from_chars(mode_.data(), mode_.data() + mode_.size(), mode, 8);
    if (error != std::errc{} || end != mode_.data() + mode_.size() || mode > kAllBits) {
      return std::unexpected(mistake("'" + mode_ + "' is no octal mode"));
    }
    request_.mode = mode;
    if (std::ranges::any_of(request_.paths, is_blank)) return std::unexpected(mistake("paths must not be empty"));
    return {};
  }

  std::span<const std::string> arguments_;
  std::size_t at_ = 0;
  HookRequest request_ = {};
  std::string mode_ = {};
};

}  // namespace

Result<HookRequest> parse_hook_command(std::span<const std::string> arguments) {
  return Parser(arguments).run();
}

Result<LinkWords> parse_link(std::string_view text) {
  constexpr std::string_view kSeparator = "::";
  const std::size_t at = text.find(kSeparator);
  if (at == std::string_view::npos || text.find(kSeparator, at + kSeparator.size()) != std::string_view::npos) {
    return std::unexpected(mistake("invalid symlink specification " + std::string(text)));
  }
  return LinkWords{.target = std::string(text.substr(0, at)), .link = std::string(text.substr(at + kSeparator.size()))};
}

}  // namespace ctkit::cdi
