#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"
#include "engine/result.h"

namespace ctkit::toolkit {

/// What has the toolkit folder's name.
enum class ToolkitState {
  absent,
  ours,     ///< a link to a version
  folder,   ///< of a stock installer
  foreign,  ///< a link of somebody else's
};

/// The toolkit below an install folder.
struct ToolkitPlaces {
  std::string link = {};      ///< `<install folder>/toolkit`
  std::string versions = {};  ///< `<install folder>/.toolkit`
  std::string staged = {};
  std::string next_link = {};
  std::string config = {};          ///< through the link
  std::string written_config = {};  ///< through the link: the config as we wrote it last
};

ToolkitPlaces places_in(const std::string& install_folder);

struct FoundToolkit {
  ToolkitState state = ToolkitState::absent;
  std::string version = {};  ///< ours: its name
  std::string target = {};   ///< foreign: where the link leads
};

/// Fails if something else than a link or a folder is there.
engine::Result<FoundToolkit> find_toolkit(const cdi::Tree& tree, const ToolkitPlaces& places);

/// The names of all versions, and of what a killed run left among them.
std::vector<std::string> names_of_versions(const cdi::Tree& tree, const ToolkitPlaces& places);

/// A name for the next version of this release: `1.20.0-3` after `1.20.0-2`.
std::string next_version(std::string_view release, const std::vector<std::string>& taken);

/// What the link has to say: the version, from the link's own folder.
std::string link_to_version(std::string_view version);

}  // namespace ctkit::toolkit
