#include "installer/systemd_error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

namespace ctkit::installer {

using engine::Error;
using engine::ErrorCode;

namespace {

struct Refusal {
  std::string_view name = {};
  ErrorCode code = ErrorCode::failed;
  std::string_view message = {};
  std::string_view hint = {};
};

// The errors that have a meaning for us; names from systemd's bus-common-errors.h and the D-Bus
// specification.
constexpr auto kRefusals = std::to_array({
    Refusal{.name = "org.freedesktop.systemd1.NoSuchUnit",
            .code = ErrorCode::not_found,
            .message = "there is no such unit"},
    Refusal{.name = "org.freedesktop.systemd1.NoUnitForPID",
            .code = ErrorCode::not_found,
            .message = "it belongs to no unit"},
    Refusal{.name = "org.freedesktop.systemd1.UnitMasked",
            .code = ErrorCode::failed,
            .message = "the unit is masked",
            .hint = "see 'systemctl unmask'"},
    Refusal{.name = "org.freedesktop.systemd1.BadUnitSetting",
            .code = ErrorCode::failed,
            .message = "an error in the unit's file keeps it down",
            .hint = "see 'systemctl status'"},
    Refusal{.name = "org.freedesktop.systemd1.LoadFailed",
            .code = ErrorCode::failed,
            .message = "the unit's file can't be loaded",
            .hint = "see 'systemctl status'"},
    Refusal{.name = "org.freedesktop.systemd1.OnlyByDependency",
            .code = ErrorCode::failed,
            .message = "the unit may not be restarted by hand",
            .hint = "it has RefuseManualStart or RefuseManualStop"},
    Refusal{.name = "org.freedesktop.systemd1.TransactionIsDestructive",
            .code = ErrorCode::failed,
            .message = "a job that systemd has at hand forbids it",
            .hint = "is the node shutting down?"},
    Refusal{.name = "org.freedesktop.systemd1.ShuttingDown",
            .code = ErrorCode::failed,
            .message = "the node is shutting down"},
    Refusal{.name = "org.freedesktop.DBus.Error.InvalidArgs",
            .code = ErrorCode::usage,
            .message = "that isn't the name of a unit",
            .hint = "write it whole, as containerd.service"},
    Refusal{.name = "org.freedesktop.DBus.Error.ServiceUnknown",
            .code = ErrorCode::unreachable,
            .message = "systemd isn't on the system bus"},
    Refusal{.name = "org.freedesktop.DBus.Error.NameHasNoOwner",
            .code = ErrorCode::unreachable,
            .message = "systemd isn't on the system bus"},
    Refusal{.name = "org.freedesktop.DBus.Error.NoReply",
            .code = ErrorCode::unreachable,
            .message = "systemd gave no answer"},
});

bool is_lost(int error_number) {
  return error_number == ECONNRESET || error_number == ECONNABORTED || error_number == ENOTCONN ||
         error_number == EPIPE || error_number == ESHUTDOWN;
}

std::string described(std::string_view name, std::string_view message, int error_number) {
  if (name.empty()) return std::generic_category().message(error_number);
  return std::string(message) + " (" + std::string(name) + ")";
}

}  // namespace

Error make_dbus_error(std::string_view name, std::string_view message, int error_number) {
  const auto* refusal = std::ranges::find(kRefusals, name, &Refusal::name);
  if (refusal != kRefusals.end()) {
    return {.code = refusal->code, .message = std::string(refusal->message), .hint = std::string(refusal->hint)};
  }
  if (is_lost(error_number)) return {.code = ErrorCode::unreachable, .message = "lost the connection to systemd"};
  if (error_number == ETIMEDOUT) return {.code = ErrorCode::unreachable, .message = "systemd gave no answer in time"};
  if (error_number == ESRCH) return {.code = ErrorCode::not_found, .message = "the process is gone"};
  const std::string words = described(name, message, error_number);
  if (error_number == EACCES || error_number == EPERM) {
    return {.code = ErrorCode::permission,
            .message = "systemd won't let us: " + words,
            .hint = "run as root, in a container privileged"};
  }
  return {.message = "systemd refused: " + words};
}

}  // namespace ctkit::installer
