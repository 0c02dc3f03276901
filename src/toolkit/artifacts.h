#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"
#include "engine/result.h"

namespace ctkit::toolkit {

/// Which of the two trees of NVIDIA's image: built for old or for Debian-like systems.
enum class PackageType { automatic, deb, rpm };

/// "deb", "rpm", "auto" or "": as NVIDIA's flag.
engine::Result<PackageType> parse_package_type(std::string_view text);

/// The folder of the artifacts: `given`, else `/artifacts/deb` or `/artifacts/rpm` by the package tool that the host
/// has, else whichever of them is there. `not_found` if there is none.
engine::Result<std::string> find_source_root(const std::string& given,
                                             PackageType type,
                                             const cdi::Tree& source,
                                             const cdi::Tree& host);

/// A file of the artifacts, at the end of all links.
struct Artifact {
  std::string name = {};  ///< as it is to be called
  std::string path = {};  ///< in the source tree
  unsigned mode = 0;
  std::string link = {};  ///< libraries: the name that programs load
};

/// NVIDIA's files that an installation is made of.
struct Artifacts {
  std::string version = {};                      ///< of the libraries, such as 1.20.0
  std::vector<Artifact> libraries = {};          ///< libnvidia-container.so.1.20.0, …
  std::vector<Artifact> programs = {};           ///< those that get a wrapper: nvidia-ctk, …
  std::optional<Artifact> hooks = std::nullopt;  ///< nvidia-cdi-hook
};

/// What is below the source root. `not_found` names everything that is missing, at once; the hooks may be.
engine::Result<Artifacts> find_artifacts(const cdi::Tree& source, const std::string& source_root);

}  // namespace ctkit::toolkit
