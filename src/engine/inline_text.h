#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>

namespace ctkit::engine {

/// A short literal that lies in the row of a table itself. A table of string_views holds pointers, which are relocated
/// at every start of the program, a page fault for each page of them. Views of it last as long as the row.
template <std::size_t kMost>
class InlineText {
 public:
  constexpr InlineText() = default;
  // NOLINTBEGIN(google-explicit-constructor): rows are written with plain literals
  constexpr InlineText(const char* literal) : InlineText(std::string_view(literal)) {}
  constexpr InlineText(std::string_view text) : size_(static_cast<std::uint8_t>(text.size())) {
    static_assert(kMost <= UINT8_MAX);
    if (text.size() > kMost)
      throw std::length_error("a longer text than the row holds");  // in a constant: doesn't compile
    std::ranges::copy(text, text_.begin());
  }
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] constexpr std::string_view view() const& { return {text_.data(), size_}; }
  std::string_view view() const&& = delete;

 private:
  std::array<char, kMost> text_{};
  std::uint8_t size_ = 0;
};

}  // namespace ctkit::engine
