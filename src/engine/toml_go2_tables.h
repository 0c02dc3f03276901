#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "engine/origin.h"
#include "engine/toml_dialect.h"
#include "engine/toml_draft.h"
#include "engine/value.h"

namespace ctkit::engine {

/// Puts keys and headers where they belong and says which go-toml 2 refuses
/// (internal/tracker/seen.go):
/// 1. A key may be given once.
/// 2. A header may name a table that only longer headers implied; once.
/// 3. A dotted key may extend tables that dotted keys under the same header made; up to 2.3 also
///    those that only longer headers implied.
/// 4. `[[ ]]` adds to what earlier `[[ ]]` made and to nothing else.
class Go2Tables {
 public:
  using Key = std::span<const std::string>;

  /// The dialect must outlive it.
  explicit Go2Tables(const TomlDialect& dialect) : dialect_(dialect) {}

  // Each says what is wrong, or nothing.
  std::string open_table(Key key, const Origin& origin);
  std::string open_array_table(Key key, const Origin& origin);
  std::string insert(Key key, const Origin& origin, Value value);

  Table finish() { return finish_table(std::move(root_)); }

 private:
  Draft* parent_of(Key key, const Origin& origin, std::string& problem);
  [[nodiscard]] bool is_closed(const Draft& table) const;
  [[nodiscard]] bool is_extensible(const Draft& table) const;

  const TomlDialect& dialect_;
  Draft root_ = {};
  Draft* current_ = &root_;
  std::uint32_t header_number_ = 1;
};

}  // namespace ctkit::engine
