#include "cdi/spec_folders.h"

#include <optional>
#include <set>
#include <utility>

#include "cdi/device_name.h"
#include "cdi/path.h"
#include "cdi/spec_io.h"
#include "cdi/validate.h"

namespace ctkit::cdi {

using engine::ErrorCode;

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

bool is_spec_name(std::string_view path) {
  const std::string_view extension = extension_of(path);
  return extension == ".json" || extension == ".yaml";
}

/// /dev/zero and its like never end; a spec that leads there is a hang like a pipe.
bool is_endless(const FileStatus& status) {
  constexpr unsigned kMemory = 1;
  const bool endless = status.minor == 5 || status.minor == 7 || status.minor == 8 || status.minor == 9;
  return status.kind == FileKind::character_device && status.major == kMemory && endless;
}

bool is_null_device(const FileStatus& status) {
  return status.kind == FileKind::character_device && status.major == 1 && status.minor == 3;
}

class Cache {
 public:
  Cache(const Tree& tree, Level level) : tree_(tree), level_(level) {}

  /// False: the library stops looking, at all folders.
  bool scan(const std::string& folder, std::size_t priority) {
    const auto status = tree_.look(folder);
    // filepath.Walk stops at a folder it can't look at, unless it is just not there.
    if (!status) return status.error().code == ErrorCode::not_found;
    if (status->kind != FileKind::folder) {
      // The folder may be a link or a file, and then its own name decides.
      if (is_spec_name(folder)) read(folder, priority);
      return true;
    }
    const auto names = tree_.names_in(folder);
    if (!names) return true;
    for (const std::string& name : *names) {
      if (found_.crash != Crash::none) return false;
      const std::string path = join(folder, name);
      if (!is_spec_name(name)) continue;
      const auto inside = tree_.look(path);
      if (inside && inside->kind == FileKind::folder) continue;
      read(path, priority);
    }
    return true;
  }

  SpecFolders take() {
    for (const std::string& device : clashing_)
      found_.devices.erase(device);
    return std::move(found_);
  }

 private:
  void note(const std::string& file, Problem problem) { found_.problems[file].push_back(std::move(problem)); }

  void die(const std::string& file, Crash crash) {
    found_.crash = crash;
    found_.crash_file = file;
  }

  // Nothing if it can't be read; then that is noted.
  std::optional<std::string> read_text(const std::string& file) {
    const auto status = tree_.follow(file);
    if (!status) {
      note(file, {.problem = ProblemClass::read, .message = status.error().message});
      return std::nullopt;
    }
    if (status->kind == FileKind::pipe || is_endless(*status)) {
      die(file, Crash::hang);
      return std::nullopt;
    }
    if (is_null_device(*status)) return "";
    if (status->kind != FileKind::file) {
      note(file,
           {.problem = ProblemClass::read,
            .message = status->kind == FileKind::folder ? "it is a folder" : "it is no file"});
      return std::nullopt;
    }
    auto text = tree_.read(file, 0, kMostBytes);
    if (!text) {
      note(file, {.problem = ProblemClass::read, .message = text.error().message});
      return std::nullopt;
    }
    return *std::move(text);
  }

  void read(const std::string& file, std::size_t priority) {
    const auto text = read_text(file);
    if (!text) return;
    auto spec = read_spec(*text, level_);
    if (!spec) return note(file, spec.error());
    Verdict verdict = validate(*spec, level_);
    if (verdict.crash != Crash::none) return die(file, verdict.crash);
    if (verdict.problem) return note(file, *std::move(verdict.problem));
    const Kind kind = split_kind(spec->kind);
    for (const Device& device : spec->devices) {
      add({.kind = kind, .name = device.name}, {.file = file, .priority = priority, .line = device.line});
    }
    found_.specs.push_back({.file = file, .priority = priority, .spec = *std::move(spec)});
  }

  struct Provider {
    std::string file = {};
    std::size_t priority = 0;
    int line = 0;
  };

  void add(const DeviceName& device, const Provider& provider) {
    const std::string name = to_string(device);
    const auto other = providers_.find(name);
    if (other != providers_.end() && provider.priority <= other->second.priority) {
      if (provider.priority < other->second.priority) return;
      const auto clash = [&name](const Provider& one, const Provider& two) {
        return Problem{.problem = ProblemClass::conflict,
                       .message = "device '" + name + "' is in '" + two.file + "' too; nobody gets it",
                       .line = one.line};
      };
      note(provider.file, clash(provider, other->second));
      if (provider.file != other->second.file) note(other->second.file, clash(other->second, provider));
      // For good: a higher folder that has the device does not bring it back.
      clashing_.insert(name);
      return;
    }
    providers_[name] = provider;
    found_.devices[name] = provider.file;
  }

  const Tree& tree_;
  Level level_;
  SpecFolders found_ = {};
  std::map<std::string, Provider> providers_ = {};
  std::set<std::string> clashing_ = {};
};

}  // namespace

std::vector<std::string> usual_spec_folders() {
  return {std::string(kStaticFolder), std::string(kDynamicFolder)};
}

SpecFolders read_spec_folders(const Tree& tree, std::span<const std::string> folders, Level level) {
  const std::vector<std::string> usual = usual_spec_folders();
  if (folders.empty() && rules_of(level).no_folders_means_usual) folders = usual;
  Cache cache(tree, level);
  for (std::size_t priority = 0; priority < folders.size(); ++priority) {
    const std::string& folder = folders[priority];
    if (!cache.scan(clean(folder.starts_with('/') ? folder : "/" + folder), priority)) break;
  }
  return cache.take();
}

}  // namespace ctkit::cdi
