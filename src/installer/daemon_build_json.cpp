#include <nlohmann/json.hpp>

#include "installer/daemon_build.h"
#include "installer/journal.h"

namespace ctkit::installer {

namespace {

constexpr std::string_view kSchema = "ctkit/v1/daemon";

std::string path_in(const std::string& state_folder) {
  return state_folder + "/" + std::string(kBuildName);
}

}  // namespace

std::optional<DaemonBuild> read_build(const engine::FileReader& files, const std::string& state_folder) {
  const auto text = files.read(path_in(state_folder));
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("schema") || json["schema"] != kSchema) return std::nullopt;
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  const auto words = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  DaemonBuild build{.program = {.device = static_cast<std::uint64_t>(number("device")),
                                .inode = static_cast<std::uint64_t>(number("inode")),
                                .size = number("size"),
                                .modified = number("modified")},
                    .version = words("version"),
                    .defaults = words("defaults")};
  if (build.version.empty()) return std::nullopt;
  return build;
}

engine::Result<void> write_build(FileSystem& files, const std::string& state_folder, const DaemonBuild& build) {
  const nlohmann::json json = {{"schema", kSchema},
                               {"device", static_cast<std::int64_t>(build.program.device)},
                               {"inode", static_cast<std::int64_t>(build.program.inode)},
                               {"size", build.program.size},
                               {"modified", build.program.modified},
                               {"version", build.version},
                               {"defaults", build.defaults}};
  const std::string text = json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return files.replace(path_in(state_folder), text, {.mode = 0600});
}

}  // namespace ctkit::installer
