#include "engine/written_file.h"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/key_path.h"
#include "engine/text_lines.h"
#include "engine/toml_reader.h"
#include "engine/toml_scanner.h"

namespace ctkit::engine {

namespace {

/// A statement with the table it belongs to and what it says.
struct Said {
  KeyPath key = {};
  std::string value = {};
  auto operator<=>(const Said&) const = default;
};

std::vector<Said> what_is_said(std::string_view text, const std::vector<Statement>& statements) {
  std::vector<Said> said;
  KeyPath table;
  for (const Statement& statement : statements) {
    if (statement.kind != Statement::Kind::key_value) {
      table.parts = statement.key;
      said.push_back({.key = table});
      continue;
    }
    KeyPath key = table;
    key.parts.insert(key.parts.end(), statement.key.begin(), statement.key.end());
    said.push_back(
        {std::move(key), std::string(text.substr(statement.value.begin, statement.value.end - statement.value.begin))});
  }
  return said;
}

}  // namespace

Result<std::optional<std::string>> without_our_statements(const FileChange& ours,
                                                          const std::string& text,
                                                          const TomlDialect& dialect) {
  const auto written = scan_statements(*ours.after, ours.path, dialect);
  if (!written) return std::unexpected(written.error());
  const auto present = scan_statements(text, ours.path, dialect);
  if (!present) return std::unexpected(present.error());
  const auto written_says = what_is_said(*ours.after, *written);
  const std::set<Said> ours_said(written_says.begin(), written_says.end());
  const auto said = what_is_said(text, *present);
  std::vector<bool> keep(said.size(), false);
  bool any = false;
  bool heads_something = false;
  for (std::size_t i = said.size(); i-- > 0;) {
    const bool header = (*present)[i].kind != Statement::Kind::key_value;
    keep[i] = header ? heads_something || !ours_said.contains(said[i]) : !ours_said.contains(said[i]);
    heads_something = header ? false : heads_something || keep[i];
    any = any || keep[i];
  }
  if (!any) return std::nullopt;
  // The names that are left mean nothing, or something else, without the version they were written
  // for.
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (said[i].key.parts == std::vector<std::string>{"version"}) keep[i] = true;
  }
  std::string left;
  std::size_t from = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const Statement& statement = (*present)[i];
    if (keep[i]) continue;
    const bool header = statement.kind != Statement::Kind::key_value;
    left += text.substr(from, line_begin(text, statement.key_span.begin) - from);
    from = line_end(text, header ? statement.key_span.end : statement.value.end);
  }
  return left + text.substr(from);
}

Result<std::optional<std::string>> with_theirs_back(const FileChange& ours,
                                                    const std::string& text,
                                                    const TomlDialect& dialect) {
  auto added = without_our_statements(ours, text, dialect);
  if (!added) return added;
  if (!*added) return *ours.before;
  const std::string gap = ours.before->empty() || ours.before->ends_with('\n') ? "\n" : "\n\n";
  const std::string both = *ours.before + gap + **added;
  // The two may set the same key; then the later author's word stands alone.
  return read_toml(both, ours.path, dialect) ? both : **added;
}

}  // namespace ctkit::engine
