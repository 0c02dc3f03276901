#pragma once

#include "engine/result.h"

namespace ctkit::installer {

/// What the process says to its caller; each has a row in the README.
enum class ExitCode {
  done = 0,
  failed = 1,          ///< node as before
  differences = 2,     ///< only with --exit-code
  needs_decision = 3,  ///< nothing written
  rolled_back = 4,     ///< verification failed, node as before
  rollback_failed = 5,
  daemon_refuses = 6,  ///< or the release is unknown
  usage = 64,
  daemon_unreachable = 69,
  locked = 75,
  permission = 77,
};

constexpr ExitCode exit_code(engine::ErrorCode code) {
  using engine::ErrorCode;
  switch (code) {
    case ErrorCode::failed:
    case ErrorCode::not_found:
    case ErrorCode::unreadable:
    case ErrorCode::is_directory:
      return ExitCode::failed;
    case ErrorCode::permission:
      return ExitCode::permission;
    case ErrorCode::daemon_refuses:
    case ErrorCode::daemon_crashes:
    case ErrorCode::unknown_release:
      return ExitCode::daemon_refuses;
    case ErrorCode::needs_decision:
      return ExitCode::needs_decision;
    case ErrorCode::usage:
      return ExitCode::usage;
    case ErrorCode::locked:
      return ExitCode::locked;
    case ErrorCode::unreachable:
      return ExitCode::daemon_unreachable;
  }
  return ExitCode::failed;
}

}  // namespace ctkit::installer
