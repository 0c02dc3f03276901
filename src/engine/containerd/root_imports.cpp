#include "engine/containerd/root_imports.h"

#include <utility>

namespace ctkit::engine::containerd {
namespace {

std::string_view written(std::string_view text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

std::string place(std::string_view file, const Statement& statement) {
  return std::string(file) + ":" + std::to_string(statement.line);
}

Error no_array(std::string_view file, const Statement& statement) {
  return {.code = ErrorCode::needs_decision,
          .message = "'imports' is not an array",
          .where = place(file, statement),
          .hint = "write it as imports = [\"…\"]"};
}

}  // namespace

Result<Root> scan_root(std::string_view text, std::string_view file, const TomlDialect& dialect) {
  auto statements = scan_statements(text, file, dialect);
  if (!statements) return std::unexpected(statements.error());
  Root root{.statements = std::move(*statements)};

  bool at_top = true;
  for (const Statement& statement : root.statements) {
    const bool is_key = statement.kind == Statement::Kind::key_value;
    at_top = at_top && is_key;
    if (statement.key.empty() || statement.key.front() != "imports" || (is_key && !at_top)) continue;
    const bool is_array = is_key && statement.key.size() == 1 && text.substr(statement.value.begin).starts_with('[');
    if (!is_array) return std::unexpected(no_array(file, statement));
    if (root.imports) {
      return std::unexpected(Error{
          .code = ErrorCode::daemon_refuses, .message = "'imports' is there twice", .where = place(file, statement)});
    }
    root.imports = Imports{.statement = statement};
  }
  if (!root.imports) return root;

  auto layout = scan_array(text, root.imports->statement.value, dialect);
  if (!layout) return std::unexpected(layout.error());
  root.imports->layout = std::move(*layout);
  return root;
}

Elements elements_of(std::string_view text, const Root& root) {
  if (!root.imports) return std::nullopt;
  std::vector<std::string> elements;
  elements.reserve(root.imports->layout.elements.size());
  for (const Span element : root.imports->layout.elements)
    elements.emplace_back(written(text, element));
  return elements;
}

std::vector<std::string> other_statements(std::string_view text, const Root& root) {
  std::vector<std::string> others;
  for (const Statement& statement : root.statements) {
    if (root.imports && statement.key_span == root.imports->statement.key_span) continue;
    others.push_back(std::to_string(static_cast<int>(statement.kind)) + std::string(written(text, statement.key_span)) +
                     "=" + std::string(written(text, statement.value)));
  }
  return others;
}

}  // namespace ctkit::engine::containerd
