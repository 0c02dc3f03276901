#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

// Inputs are texts, so that a stored one reads like the case it is: a first line of settings, then
// what it is about.
namespace ctkit::fuzz {

/// The input as text.
inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

/// Takes the text before the next `end` off the front of `rest`; without one, all of it.
inline std::string_view take_until(std::string_view& rest, char end) {
  const std::string_view taken = rest.substr(0, rest.find(end));
  rest.remove_prefix(taken.size() == rest.size() ? rest.size() : taken.size() + 1);
  return taken;
}

/// A number from 0 to `limit` - 1 that a letter stands for: `a` is 0, and so on round.
inline std::size_t choice(std::string_view settings, std::size_t at, std::size_t limit) {
  if (at >= settings.size()) return 0;
  const auto letter = static_cast<unsigned char>(settings[at]);
  return static_cast<unsigned char>(letter - 'a') % limit;
}

/// Ends the process with a finding unless the claim holds.
inline void demand(bool holds, std::string_view claim, std::string_view detail = "") {
  if (holds) return;
  std::cerr << "finding: not so: " << claim << '\n' << detail << '\n';
  std::abort();
}

}  // namespace ctkit::fuzz
