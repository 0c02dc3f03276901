#pragma once

#include <string_view>

#include "engine/result.h"

namespace ctkit::installer {

/// A failed D-Bus call to systemd in our words. `name` and `message` are those of the D-Bus error,
/// empty if none came; `error_number` is the errno that goes with it. `unreachable` if the
/// connection is lost or nothing came in time.
engine::Error make_dbus_error(std::string_view name, std::string_view message, int error_number);

}  // namespace ctkit::installer
