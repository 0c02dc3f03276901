#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"

namespace ctkit::cdi {

/// Versions of the host; "" is not known.
struct HostVersions {
  std::string driver = {};
  std::string cuda = {};
};

/// What a CUDA compat library says about itself in its ELF note.
struct CompatNote {
  std::string cuda_version = {};
  std::vector<int> drivers = {};  ///< branches of the host driver that it works with
};

/// The note in the section's bytes; false if there is none, or none of NVIDIA's
/// (compat_note_json.cpp).
bool parse_compat_note(std::string_view section, CompatNote& note);

/// The folder, links followed, that the linker should look in first; "" if the host's own libraries
/// are newer or there are no compat libraries. Rules of enable-cuda-compat v1.20.0: one
/// libcuda.so.*.* only; a note with drivers decides by the host's branch, and then the library must
/// be newer than the driver; a note without, by the CUDA version; no note, by the major version.
struct CompatChoice {
  std::string folder = {};
  std::vector<std::string> warnings = {};
};
CompatChoice choose_compat_folder(const Tree& container, std::string_view folder, const HostVersions& host);

}  // namespace ctkit::cdi
