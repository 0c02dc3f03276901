#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ctkit::engine {

/// The text with ASCII letters made small, or large; all else stays.
std::string lower(std::string_view text);
std::string upper(std::string_view text);

/// A letter beyond ASCII, in UTF-8, and the small ASCII one that a Go function takes for the same.
using FoldedLetter = std::pair<std::string_view, char>;

/// `lower`, and those letters too: what two spellings of a key have in common.
std::string folded(std::string_view text, std::span<const FoldedLetter> letters);

}  // namespace ctkit::engine
