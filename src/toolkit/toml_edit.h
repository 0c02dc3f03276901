#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/key_path.h"
#include "engine/result.h"
#include "engine/toml_dialect.h"
#include "engine/value.h"

namespace ctkit::toolkit {

/// A table's values that are no tables, by their whole keys.
using Leaves = std::map<engine::KeyPath, engine::Value>;

Leaves leaves_of(const engine::Table& table);

/// What a key is to be; nothing: it goes.
struct KeyChange {
  engine::KeyPath key = {};
  std::optional<engine::Value> value = std::nullopt;
};

/// Does it to a table.
void set_key(engine::Table& table, const KeyChange& change);

/// The text with these keys changed and every other byte kept; a key that goes takes its line along. Fails as the
/// reader does, and where the result doesn't read back as it should: then the text is written in a way that this can't
/// edit.
engine::Result<std::string> edit_toml(std::string_view text,
                                      std::string_view file,
                                      std::span<const KeyChange> changes,
                                      const engine::TomlDialect& dialect);

}  // namespace ctkit::toolkit
