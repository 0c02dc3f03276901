#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cdi/level.h"
#include "cdi/spec_folders.h"
#include "cdi/staleness.h"
#include "installer/spec_state.h"

namespace ctkit::installer {

/// `cdi validate` as a table: devices, then what is wrong with the files.
std::string report_cdi_text(const cdi::SpecFolders& folders, cdi::Level level);

/// The same as JSON: `devices` (name → file), `why` (file → classes), `problems`, and `crash` where
/// the library dies.
std::string report_cdi_json(const cdi::SpecFolders& folders, cdi::Level level);

/// `cdi list`: each device with its file, its folder's priority and how the spec stands to the
/// driver, then the conflicts.
std::string report_cdi_list_text(const cdi::SpecFolders& folders,
                                 std::span<const cdi::Staleness> rows,
                                 cdi::Level level);
std::string report_cdi_list_json(const cdi::SpecFolders& folders,
                                 std::span<const cdi::Staleness> rows,
                                 cdi::Level level);

/// Everybody's specs against the driver, a row each: what the spec says, what is on disk, what is loaded, and what
/// follows; then what is wrong with them. "" without specs.
std::string report_spec_state_text(const SpecState& state);

/// "current", "missing-files", "old-version" or "unknown".
std::string_view name_of(cdi::SpecState state);

}  // namespace ctkit::installer
