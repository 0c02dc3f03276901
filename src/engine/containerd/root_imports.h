#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/toml_dialect.h"
#include "engine/toml_scanner.h"

namespace ctkit::engine::containerd {

/// The `imports` of a top-level config.
struct Imports {
  Statement statement = {};
  ArrayLayout layout = {};
};

/// The statements of a top-level config, `imports` among them if it is there.
struct Root {
  std::vector<Statement> statements = {};
  std::optional<Imports> imports = std::nullopt;
};

/// Fails as scan_statements does; with `needs_decision` at `file:line` where `imports` is no array.
Result<Root> scan_root(std::string_view text, std::string_view file, const TomlDialect& dialect);

/// The elements of `imports` as written; nothing if there is no `imports`.
using Elements = std::optional<std::vector<std::string>>;
Elements elements_of(std::string_view text, const Root& root);

/// Every statement but `imports`, as written.
std::vector<std::string> other_statements(std::string_view text, const Root& root);

}  // namespace ctkit::engine::containerd
