#pragma once

#include <string>
#include <string_view>

namespace ctkit::engine {

/// What `diff -u` prints, without dates: empty if the texts are equal. Smallest up to some thousand
/// changed lines, then everything between the first and the last change is replaced.
std::string unified_diff(std::string_view before,
                         std::string_view after,
                         std::string_view before_name,
                         std::string_view after_name,
                         int context = 3);

}  // namespace ctkit::engine
