#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"
#include "engine/toml_dialect.h"

// Byte-exact edits of the `imports` of a top-level config. For every text t that add_import takes,
// remove_import(add_import(t)) is t.
namespace ctkit::engine::containerd {

/// The text with the pattern as the last of `imports` and every other byte kept; without an
/// `imports`, with a line for it. Fails with `needs_decision` at `file:line` on a template and
/// where `imports` is no array or the pattern is not UTF-8, otherwise as scan_statements does. Whether the pattern is already
/// there, or the file generated, is the caller's question.
Result<std::string> add_import(std::string_view text,
                               std::string_view file,
                               std::string_view pattern,
                               const TomlDialect& dialect);

/// The text without the last element that is the pattern; `not_found` if there is none. If the
/// array is empty then, `line_was_ours` (add_import made the line) takes the line too, unless
/// somebody's comment is in it.
Result<std::string> remove_import(std::string_view text,
                                  std::string_view file,
                                  std::string_view pattern,
                                  const TomlDialect& dialect,
                                  bool line_was_ours);

/// A top-level config where there was none: the version and the import.
std::string new_root(int version, std::string_view pattern);

}  // namespace ctkit::engine::containerd
