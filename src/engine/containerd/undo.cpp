#include "engine/containerd/undo.h"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/containerd/imports_edit.h"
#include "engine/key_path.h"
#include "engine/toml_reader.h"
#include "engine/toml_scanner.h"
#include "engine/written_file.h"

namespace ctkit::engine::containerd {

namespace {

/// The import that `after` has and `before` lacks; "" if there is none.
std::string added_import(const FileChange& ours, const TomlDialect& dialect) {
  const auto imports = [&](const std::string& text) {
    std::set<std::string> names;
    const auto table = read_toml(text, ours.path, dialect);
    const Value* list = table ? find(*table, "imports") : nullptr;
    if (!list || !list->array()) return names;
    for (const Value& item : *list->array()) {
      if (item.string()) names.insert(*item.string());
    }
    return names;
  };
  const auto before = imports(*ours.before);
  for (const std::string& name : imports(*ours.after)) {
    if (!before.contains(name)) return name;
  }
  return "";
}

}  // namespace

Result<std::optional<std::string>> undo(const FileChange& ours, const std::string& text, const TomlDialect& dialect) {
  if (!ours.after) return text;
  if (!ours.before) return without_our_statements(ours, text, dialect);
  if (added_import(ours, dialect).empty()) return with_theirs_back(ours, text, dialect);
  const auto before = read_toml(*ours.before, ours.path, dialect);
  const bool line_was_ours = before && !before->contains("imports");
  auto removed = remove_import(text, ours.path, added_import(ours, dialect), dialect, line_was_ours);
  if (!removed && removed.error().code == ErrorCode::not_found) return text;
  if (!removed) return std::unexpected(removed.error());
  return *std::move(removed);
}

}  // namespace ctkit::engine::containerd
