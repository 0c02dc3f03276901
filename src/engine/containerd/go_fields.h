#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/containerd/schema.h"
#include "engine/value.h"

// Which key of a file belongs to which member of a Go struct.
namespace ctkit::engine::containerd {

/// go-toml 1 (marshal.go, valueFromTree): the value of the member `name`: by the name as it is, all lower, all upper,
/// first letter lower, whichever is there first; null: none is.
const Value* find_member(const Table& table, std::string_view name);

/// go-toml 1: whether a member of the struct, or of one embedded in it, takes the key of the table.
bool is_read(const Type& type, const Table& table, std::string_view key);

/// go-toml 2 (unmarshaler.go, structField): the field for a key: of that very name, else ignoring case; null: none.
const Type* find_field(const Type& type, std::string_view key);

/// go-toml 2: whether a variable of the type has a member that `path` leads to. What is below a scalar counts as
/// placed: that it does not fit is for decoding to say.
bool has_place(const Type& type, std::span<const std::string> path);

}  // namespace ctkit::engine::containerd
