#pragma once

#include <cstddef>
#include <string_view>

namespace ctkit::engine {

/// What may stand before the text, in bytes. go-toml 1 skips a UTF-16 or UTF-32 mark too, although what follows is then
/// read as bytes (LoadBytes in toml.go); to the other libraries a text with another than UTF-8's is no TOML.
std::size_t byte_order_mark_length(std::string_view text);

/// Where the line that holds `at` begins: the first one behind a byte order mark.
std::size_t line_begin(std::string_view text, std::size_t at);

/// Behind the newline of the line that holds `at`, or the end of the text.
std::size_t line_end(std::string_view text, std::size_t at);

/// The newline whose last byte is at `at`: "\n" or "\r\n".
std::string_view newline_ending(std::string_view text, std::size_t at);

/// The newline of the text's first line; "\n" if it has none.
std::string_view newline_of(std::string_view text);

}  // namespace ctkit::engine
