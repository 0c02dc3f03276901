#pragma once

#include <string>
#include <vector>

namespace ctkit::engine {

/// The names for a message: each in quotes, with commas between; "" for none.
inline std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}  // namespace ctkit::engine
