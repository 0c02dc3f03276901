#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace ctkit::engine {

/// What a caller may want to branch on; the exit code follows from it.
enum class ErrorCode {
  failed,           ///< we could not do it; nothing changed
  not_found,        ///< the path or key is not there
  unreadable,       ///< nobody can read it, the daemon neither: a loop of links, a name too long, a bad disk
  is_directory,     ///< a file was wanted, a directory is there
  permission,       ///< only we may not read or write it; the daemon could
  daemon_refuses,   ///< the daemon would not start with these files
  daemon_crashes,   ///< the daemon panics on these files
  unknown_release,  ///< no release given, none found, or one nobody has recorded
  needs_decision,   ///< a person has to choose; nothing was written
  usage,            ///< the request makes no sense
  locked,           ///< somebody else is at work on this node
  unreachable,      ///< the daemon, or systemd, doesn't answer
};

/// A failure for reasons outside the program: what, where (`file:line:column`, a path or a unit) and what to do about
/// it.
struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::failed;
  std::string message = {};
  std::string where = {};
  std::string hint = {};

  /// The same error, its message preceded by what was being done: "loading the config: …".
  Error with_context(std::string_view doing) const {
    Error error = *this;
    error.message = std::string(doing) + ": " + message;
    return error;
  }

  bool operator==(const Error&) const = default;
};

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace ctkit::engine
