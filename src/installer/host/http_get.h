#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "installer/clock.h"

namespace ctkit::installer::host {

/// The body of `GET path` over an open connection, which it uses up: HTTP/1.0, until the other side closes.
/// `unreachable` if there is no answer in time, `not_found` if the answer is any but 200.
engine::Result<std::string> http_get(int fd, std::string_view path, Moment deadline, const std::string& socket);

}  // namespace ctkit::installer::host
