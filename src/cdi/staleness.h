#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cdi/spec.h"
#include "cdi/spec_folders.h"
#include "cdi/tree.h"

namespace ctkit::cdi {

/// How a spec stands to the driver.
enum class SpecState {
  current,      ///< it names the libraries that are there, of the version of the module
  no_driver,    ///< it names no driver library: nothing can be said
  missing,      ///< files it mounts are not there: no container can start with it
  old_version,  ///< its libraries are there, but of another version than the loaded module
};

/// One row of the comparison: what the spec says, what is on disk, what the kernel has loaded.
struct Staleness {
  std::string file = {};
  std::string kind = {};
  std::string spec_version = {};     ///< of the libraries the spec names; "" if it names none
  std::string library_version = {};  ///< of the libraries in the driver root; "" if there are none
  std::string module_version = {};   ///< of the loaded module; "" if none is
  SpecState state = SpecState::no_driver;
  std::vector<std::string> missing = {};  ///< host paths that are not there, at most 5

  [[nodiscard]] bool stale() const { return state == SpecState::missing || state == SpecState::old_version; }
};

/// The version that the names of libcuda and libnvidia-ml in the spec's mounts end in.
std::string version_in_spec(const Spec& spec);

/// Compares a loaded spec with the host: ours or anybody's, such as the device plugin's.
Staleness judge(const LoadedSpec& loaded,
                const Tree& host,
                std::string_view library_version,
                std::string_view module_version);

}  // namespace ctkit::cdi
