#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "cdi/level.h"

namespace ctkit::installer {

/// What tells one daemon from another before its engine is made.
struct DaemonKind {
  std::string_view engine = {};                     ///< as `--engine` names it
  std::string_view other_name = {};                 ///< as a capture may name it
  std::string_view version_mark = {};               ///< what its `--version` begins with
  bool prints_defaults = false;                     ///< `config default` is a question it answers
  bool reads_operators_config = false;              ///< the GPU Operator's RUNTIME_CONFIG names a file that it reads
  std::string_view usual_config = {};               ///< top-level config, where its command line names none
  std::span<const std::string_view> settings = {};  ///< of these one is on a host that is set up for it
  std::span<const std::string_view> sockets = {};
  /// Of the CDI library in a release, by its three numbers; none: it has none, or one that nobody has looked at.
  std::optional<cdi::Level> (*cdi_level)(int major, int minor, int patch) = nullptr;
};

/// The daemons that may run on a node, the preferred one first.
std::span<const DaemonKind> daemon_kinds();

/// By its engine's name; null: nobody is called so.
const DaemonKind* find_kind(std::string_view engine);

/// The daemon that prints this as its version.
const DaemonKind& kind_of(std::string_view version);

}  // namespace ctkit::installer
