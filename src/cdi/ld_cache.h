#pragma once

#include <string>
#include <vector>

#include "cdi/tree.h"

namespace ctkit::cdi {

/// The library paths in the tree's /etc/ld.so.cache (glibc-ld.so.cache1.1), in its order; none if
/// there is no usable one.
std::vector<std::string> read_ld_cache(const Tree& tree);

}  // namespace ctkit::cdi
