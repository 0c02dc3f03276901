#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cdi/level.h"
#include "cdi/problem.h"
#include "cdi/spec.h"
#include "cdi/tree.h"

namespace ctkit::cdi {

inline constexpr std::string_view kStaticFolder = "/etc/cdi";
inline constexpr std::string_view kDynamicFolder = "/var/run/cdi";

/// The spec folders nobody configured, in order of priority, the last one highest.
std::vector<std::string> usual_spec_folders();

/// A spec file that the library loads.
struct LoadedSpec {
  std::string file = {};
  std::size_t priority = 0;
  Spec spec = {};
};

/// What a library makes of spec folders.
struct SpecFolders {
  std::map<std::string, std::string> devices = {};            ///< vendor/class=name → the file that provides it
  std::map<std::string, std::vector<Problem>> problems = {};  ///< by file
  std::vector<LoadedSpec> specs = {};                         ///< in the order they were read
  Crash crash = Crash::none;                                  ///< then the rest is what came before it
  std::string crash_file = {};
};

/// Reads the folders as the library's cache does (pkg/cdi/cache.go, spec-dirs.go): `.json` and
/// `.yaml` in each folder itself, sorted; of one device in several files the highest folder wins,
/// and within a folder nobody.
SpecFolders read_spec_folders(const Tree& tree, std::span<const std::string> folders, Level level);

}  // namespace ctkit::cdi
