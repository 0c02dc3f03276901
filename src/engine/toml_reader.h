#pragma once

#include <string_view>

#include "engine/result.h"
#include "engine/toml_dialect.h"
#include "engine/value.h"

namespace ctkit::engine {

/// The text of one file as that daemon's TOML library understands it; every value has its file,
/// line and column. Fails with `daemon_refuses` at `file:line:column` where the library refuses,
/// with `failed` where we give up (tables nested deeper than kDeepest).
Result<Table> read_toml(std::string_view text, std::string_view file, const TomlDialect& dialect);

inline constexpr int kDeepest = 500;

}  // namespace ctkit::engine
