#include "toolkit/versions.h"

#include <algorithm>
#include <charconv>

#include "cdi/path.h"
#include "toolkit/places.h"

namespace ctkit::toolkit {

using cdi::FileKind;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

ToolkitPlaces places_in(const std::string& install_folder) {
  const std::string root = cdi::clean(install_folder);
  const std::string versions = cdi::join(root, kVersions);
  return {.link = cdi::join(root, kToolkit),
          .versions = versions,
          .staged = cdi::join(versions, kStaged),
          .next_link = cdi::join(versions, kNextLink),
          .config = cdi::join(cdi::join(root, kToolkit), kConfigFile),
          .written_config = cdi::join(cdi::join(root, kToolkit), kWrittenConfig)};
}

Result<FoundToolkit> find_toolkit(const cdi::Tree& tree, const ToolkitPlaces& places) {
  const auto status = tree.look(places.link);
  if (!status && status.error().code == ErrorCode::not_found) return FoundToolkit{};
  if (!status) return std::unexpected(status.error());
  if (status->kind == FileKind::folder) return FoundToolkit{.state = ToolkitState::folder};
  if (status->kind != FileKind::link) {
    return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                 .message = "a file has the name of the toolkit's folder",
                                 .where = places.link,
                                 .hint = "remove it, or give another --toolkit-install-dir"});
  }
  const auto target = tree.target_of(places.link);
  if (!target) return std::unexpected(target.error());
  const std::string_view version = cdi::base_name(*target);
  if (link_to_version(version) == *target) {
    return FoundToolkit{.state = ToolkitState::ours, .version = std::string(version)};
  }
  return FoundToolkit{.state = ToolkitState::foreign, .target = *target};
}

std::vector<std::string> names_of_versions(const cdi::Tree& tree, const ToolkitPlaces& places) {
  auto names = tree.names_in(places.versions);
  return names ? *std::move(names) : std::vector<std::string>{};
}

std::string next_version(std::string_view release, const std::vector<std::string>& taken) {
  const std::string prefix = (release.empty() ? "unknown" : std::string(release)) + "-";
  unsigned highest = 0;
  for (const std::string& name : taken) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view digits = std::string_view(name).substr(prefix.size());
    unsigned number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec == std::errc{} && read.ptr == digits.data() + digits.size()) highest = std::max(highest, number);
  }
  return prefix + std::to_string(highest + 1);
}

std::string link_to_version(std::string_view version) {
  return cdi::join(kVersions, version);
}

}  // namespace ctkit::toolkit
