#include "engine/letter_case.h"

namespace ctkit::engine {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string folded(std::string_view text, std::span<const FoldedLetter> letters) {
  std::string result = lower(text);
  for (const auto& [letter, plain] : letters) {
    for (std::size_t at = result.find(letter); at != std::string::npos; at = result.find(letter, at)) {
      result.replace(at, letter.size(), 1, plain);
    }
  }
  return result;
}

}  // namespace ctkit::engine
