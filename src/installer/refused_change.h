#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "installer/file_system.h"
#include "installer/outcome.h"

namespace ctkit::installer {

/// A change that the daemon didn't take, kept in /run beside the readiness file: a container that starts again and
/// again would restart the daemon twice each time. It counts for an hour, as what kept the daemon from it may pass by
/// itself.
struct RefusedChange {
  std::string digest = {};
  std::int64_t time = 0;  ///< microseconds since the epoch
  std::string reason = {};
  bool operator==(const RefusedChange&) const = default;
};

/// What names a change: the daemon's release, the files it reads today, those that would be written with what they
/// would say; where there are none, why a restart is due.
std::string digest_of_change(std::string_view engine, const Outcome& outcome, const engine::FileReader& files);

/// The one that is kept and still counts.
std::optional<RefusedChange> read_refused_change(const FileSystem& files, const std::string& path, std::int64_t now);

engine::Result<void> keep_refused_change(FileSystem& files, const std::string& path, const RefusedChange& change);

/// Nothing happens if none is kept.
void forget_refused_change(FileSystem& files, const std::string& path);

}  // namespace ctkit::installer
