#include "engine/toml_reader.h"

#include <cassert>

#include "engine/toml_burntsushi.h"
#include "engine/toml_go1.h"
#include "engine/toml_go2.h"

namespace ctkit::engine {

Result<Table> read_toml(std::string_view text,
                        std::string_view file,
                        const TomlDialect& dialect,
                        const HasPlace& has_place) {
  switch (dialect.grammar) {
    case TomlDialect::Grammar::go_toml_1:
      return read_go1(text, file, dialect);
    case TomlDialect::Grammar::toml_1_0:
      return read_go2(text, file, dialect, has_place);
    case TomlDialect::Grammar::burntsushi:
      return read_burntsushi(text, file, dialect);
  }
  assert(false);
  return {};
}

}  // namespace ctkit::engine
