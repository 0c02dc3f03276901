#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/toml_dialect.h"
#include "engine/value.h"

namespace ctkit::engine {

/// Whether the daemon's own types have a place for a key of the document, given by its whole path.
using HasPlace = std::function<bool(std::span<const std::string> path)>;

/// The text of one file as that daemon's TOML library understands it; every value has its file,
/// line and column. Fails with `daemon_refuses` at `file:line:column` where the library refuses,
/// with `failed` where we give up (tables nested deeper than kDeepest). Go-toml 2 does not convert
/// what the daemon's types have no place for: with `has_place`, an integer that is too large and a
/// date that does not exist are then taken, as strings. Up to 2.3 it does not even look for
/// repeated keys in such tables: what is in them is left out.
Result<Table> read_toml(std::string_view text,
                        std::string_view file,
                        const TomlDialect& dialect,
                        const HasPlace& has_place = {});

inline constexpr int kDeepest = 500;

}  // namespace ctkit::engine
