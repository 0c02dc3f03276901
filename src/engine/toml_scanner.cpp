#include "engine/toml_scanner.h"

#include <cassert>
#include <optional>
#include <utility>

#include "engine/toml_burntsushi.h"
#include "engine/toml_go1.h"
#include "engine/toml_go2.h"
#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

template <typename Parser>
Result<std::vector<Statement>> all_statements(Parser parser) {
  std::vector<Statement> statements;
  for (;;) {
    auto next = parser.next();
    if (!next) return std::unexpected(std::move(next.error()));
    std::optional<Statement> statement = std::move(*next);
    if (!statement) return statements;
    statements.push_back(std::move(*statement));
  }
}

}  // namespace

Result<std::vector<Statement>> scan_statements(std::string_view text,
                                               std::string_view file,
                                               const TomlDialect& dialect) {
  const TextPlaces places(text, file);
  switch (dialect.grammar) {
    case TomlDialect::Grammar::go_toml_1:
      return all_statements(Go1Parser(text, places, dialect, Go1Parser::Values::passed));
    case TomlDialect::Grammar::toml_1_0:
      return all_statements(Go2Parser(text, places, dialect));
    case TomlDialect::Grammar::burntsushi:
      return all_statements(BurntSushiParser(text, places, dialect, nullptr));
  }
  assert(false);
  return {};
}

Result<ArrayLayout> scan_array(std::string_view text, Span value, const TomlDialect& dialect) {
  const TextPlaces places(text, {});
  switch (dialect.grammar) {
    case TomlDialect::Grammar::go_toml_1:
      return Go1Parser(text, places, dialect, Go1Parser::Values::passed).layout(value);
    case TomlDialect::Grammar::toml_1_0:
      return Go2Parser(text, places, dialect).layout(value);
    case TomlDialect::Grammar::burntsushi:
      return BurntSushiParser(text, places, dialect, nullptr).layout(value);
  }
  assert(false);
  return {};
}

}  // namespace ctkit::engine
