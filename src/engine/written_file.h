#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"
#include "engine/result.h"
#include "engine/toml_dialect.h"

namespace ctkit::engine {

// Taking a TOML file that is all ours back out of what others have made of it since. Both fail as
// scan_statements does.

/// The text without the statements that still read as we wrote them and without the headers that
/// then head nothing; its `version` stays as long as anything else does. Nothing: nobody else's
/// statement is left.
Result<std::optional<std::string>> without_our_statements(const FileChange& ours,
                                                          const std::string& text,
                                                          const TomlDialect& dialect);

/// Ours stood in the place of somebody else's file: that one comes back, and what was added to ours
/// since stands behind it.
Result<std::optional<std::string>> with_theirs_back(const FileChange& ours,
                                                    const std::string& text,
                                                    const TomlDialect& dialect);

}  // namespace ctkit::engine
