#pragma once

#include <string>
#include <string_view>

#include "engine/value.h"

namespace ctkit::engine {

/// A TOML basic string, quotes included; every daemon's library reads it back to the same text.
std::string quote_string(std::string_view text);

/// A value on one line: scalars, arrays, inline tables.
std::string render_value(const Value& value);

/// A table as a TOML text of ours: plain keys first, then `[a.b]` and `[[a.b]]` for what is below;
/// a table that holds only tables gets no header of its own. Reading it back gives the same table, but for keys that
/// hold a double quote or a backslash, and an apostrophe or a control character too: no spelling of those is one to
/// go-toml 1 and 2 alike.
std::string render_toml(const Table& table);

}  // namespace ctkit::engine
