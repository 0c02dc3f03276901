#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ctkit::engine {

/// Nanoseconds of a Go duration ("1h30m", "1.5s", "-2us", "0"); nothing if Go's time.ParseDuration refuses it.
std::optional<std::int64_t> parse_duration(std::string_view text);

/// As Go's Duration.String prints it: "1m30s", "0s", "1.5µs".
std::string render_duration(std::int64_t nanoseconds);

}  // namespace ctkit::engine
