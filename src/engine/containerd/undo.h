#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"
#include "engine/result.h"
#include "engine/toml_dialect.h"

namespace ctkit::engine::containerd {

/// Takes our change back out of a TOML file that others have edited since. What we inserted into `imports` goes,
/// everything else stays. From a file that is all ours go the statements that still read as we wrote them, and the
/// headers that then head nothing; its version stays as long as anything else does. Nothing: nobody else's statement is
/// left. Fails as scan_statements does.
Result<std::optional<std::string>> undo(const FileChange& ours, const std::string& text, const TomlDialect& dialect);

}  // namespace ctkit::engine::containerd
