#include "engine/crio/loader.h"

#include <string_view>
#include <utility>

#include "engine/toml_reader.h"

namespace ctkit::engine::crio {

namespace {

constexpr int kDeepestFolder = 100;

Error refusal(const std::string& path, std::string message, std::string hint) {
  return {.code = ErrorCode::daemon_refuses, .message = std::move(message), .where = path, .hint = std::move(hint)};
}

class Loader {
 public:
  Loader(const FileReader& files, const LoadRequest& request, const Known& known)
      : files_(files), request_(request), known_(known) {}

  Result<std::vector<Layer>> run() {
    if (auto done = main_file(); !done) return std::unexpected(done.error());
    const std::string& folder = request_.drop_in_folder;
    if (!folder.empty() && files_.exists(folder)) {
      if (auto done = walk(folder, 0); !done) return std::unexpected(done.error());
    } else if (const std::string file = file_above(folder); !file.empty()) {
      return std::unexpected(refusal(
          folder, "'" + folder + "' can't be there: '" + file + "' is a file", "give CRI-O another --config-dir"));
    }
    return std::move(layers_);
  }

 private:
  /// The file that a missing path would have to lie in; "" if there is none.
  [[nodiscard]] std::string file_above(std::string path) const {
    while (path.rfind('/') != 0 && path.contains('/')) {
      path.resize(path.rfind('/'));
      if (files_.exists(path)) return files_.read(path) ? path : "";
    }
    return "";
  }

  Result<void> main_file() {
    const std::string& path = request_.config_path;
    if (path.empty()) return {};
    auto text = files_.read(path);
    if (text) return add(path, *text);
    switch (text.error().code) {
      case ErrorCode::not_found:
        if (!request_.config_given) return {};
        return std::unexpected(refusal(path,
                                       "'" + path + "' does not exist, and CRI-O was told to read it",
                                       "create it, or take the flag or CONTAINER_CONFIG away"));
      case ErrorCode::is_directory:
        return std::unexpected(refusal(path, "'" + path + "' is a folder", "CRI-O wants a file there"));
      default:
        return std::unexpected(text.error());
    }
  }

  Result<void> walk(const std::string& path, int depth) {
    if (depth > kDeepestFolder) {
      return std::unexpected(
          Error{.message = "folders nested deeper than " + std::to_string(kDeepestFolder), .where = path});
    }
    if (const auto target = files_.link_target(path)) return read_link(path, *target);
    const auto names = files_.list(path);
    if (!names && names.error().code != ErrorCode::not_found) return std::unexpected(names.error());
    if (!names) return read_file(path);
    for (const std::string& name : *names) {
      if (auto done = walk(path + (path.ends_with('/') ? "" : "/") + name, depth + 1); !done) return done;
    }
    return {};
  }

  Result<void> read_link(const std::string& path, const std::string& target) {
    auto text = files_.read(path);
    if (text) return add(path, *text);
    if (target == "/dev/null") return add(path, "");
    switch (text.error().code) {
      case ErrorCode::not_found:
        return std::unexpected(refusal(path,
                                       "the link '" + path + "' leads to '" + target + "', which does not exist",
                                       "remove the link: CRI-O does not start while it is there"));
      case ErrorCode::is_directory:
        return std::unexpected(refusal(path,
                                       "'" + path + "' is a link to a folder, which CRI-O reads like a file",
                                       path == request_.drop_in_folder
                                           ? "make it a folder, or give CRI-O the target with --config-dir"
                                           : "put a folder or links to single files in its place"));
      default:
        return std::unexpected(text.error());
    }
  }

  Result<void> read_file(const std::string& path) {
    auto text = files_.read(path);
    if (!text) return std::unexpected(text.error());
    return add(path, *text);
  }

  Result<void> add(const std::string& path, const std::string& text) {
    auto table = read_toml(text, path, *known_.regime.dialect);
    if (!table) {
      Error error = table.error();
      if (error.hint.empty()) error.hint = "CRI-O reads every file in its drop-in folder, whatever its name";
      return std::unexpected(std::move(error));
    }
    layers_.push_back({.path = path, .schema_version = kUnversioned, .table = *std::move(table)});
    return {};
  }

  const FileReader& files_;
  const LoadRequest& request_;
  const Known& known_;
  std::vector<Layer> layers_;
};

}  // namespace

Result<std::vector<Layer>> load(const FileReader& files, const LoadRequest& request, const Known& known) {
  return Loader(files, request, known).run();
}

}  // namespace ctkit::engine::crio
