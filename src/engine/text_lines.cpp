#include "engine/text_lines.h"

#include <algorithm>
#include <array>

namespace ctkit::engine {

namespace {

using namespace std::literals;

// A longer one goes before the one that it begins with.
constexpr auto kByteOrderMarks =
    std::to_array({"\xEF\xBB\xBF"sv, "\x00\x00\xFE\xFF"sv, "\xFF\xFE\x00\x00"sv, "\xFE\xFF"sv, "\xFF\xFE"sv});

}  // namespace

std::size_t byte_order_mark_length(std::string_view text) {
  const auto* const mark =
      std::ranges::find_if(kByteOrderMarks, [&](std::string_view candidate) { return text.starts_with(candidate); });
  return mark == kByteOrderMarks.end() ? 0 : mark->size();
}

std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t newline = text.substr(0, at).rfind('\n');
  return newline == std::string_view::npos ? byte_order_mark_length(text) : newline + 1;
}

std::size_t line_end(std::string_view text, std::size_t at) {
  const std::size_t newline = text.find('\n', at);
  return newline == std::string_view::npos ? text.size() : newline + 1;
}

std::string_view newline_ending(std::string_view text, std::size_t at) {
  return at > 0 && text[at - 1] == '\r' ? "\r\n" : "\n";
}

std::string_view newline_of(std::string_view text) {
  const std::size_t first = text.find('\n');
  return first == std::string_view::npos ? "\n" : newline_ending(text, first);
}

}  // namespace ctkit::engine
