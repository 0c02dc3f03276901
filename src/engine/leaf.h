#pragma once

#include <string_view>

#include "engine/value.h"

namespace ctkit::engine {

/// The first value of this key wherever in the document it stands, tables of other keys looked into; null if there is
/// none.
const Value* find_anywhere(const Table& document, std::string_view key);

}  // namespace ctkit::engine
