#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/origin.h"
#include "engine/toml_draft.h"
#include "engine/value.h"

namespace ctkit::engine {

using Go1Key = std::span<const std::string>;

/// What a key is given: an inline table and an array of nothing but those stay open, all else is
/// finished.
struct Go1Value {
  Value value = {};
  std::unique_ptr<Draft> table = nullptr;
};

/// The parts of a key as the lexer spells it, or nothing; `problem` then says why (keysparsing.go).
std::optional<std::vector<std::string>> split_go1_key(std::string_view spelled, std::string_view& problem);

/// Puts a value where a dotted key within an inline table says (Tree.SetPath in toml.go): what is
/// there already is overwritten, and a part that is no table is passed over.
void set_go1_path(Draft& table, Go1Key key, const Origin& origin, Go1Value value);

/// Puts keys and headers where they belong and says which the library refuses (parser.go, toml.go):
/// 1. A header may be spelled once in the same way, `[[ ]]` as often as one likes. An `[[x]]`
///    forgets the headers that are spelled `x.` and something.
/// 2. Headers and dotted keys go anywhere but into an inline table.
/// 3. `[[ ]]` adds to an array of tables however that was written. A part of its name that is no
///    table is passed over.
/// 4. A key may be given once.
class Go1Tables {
 public:
  // Each says what is wrong, or nothing.
  std::string open_table(const std::string& spelled, std::vector<std::string> key, const Origin& origin);
  std::string open_array_table(const std::string& spelled, std::vector<std::string> key, const Origin& origin);
  std::string insert(std::vector<std::string> key, const Origin& origin, Go1Value value);

  Table finish() { return finish_table(std::move(root_)); }

 private:
  void forget_below(std::string_view spelled);

  Draft root_ = {};
  std::vector<std::string> current_key_ = {};
  Draft* current_ = &root_;  ///< null: the header's own path does not lead anywhere
  std::set<std::string, std::less<>> spelled_ = {};
};

}  // namespace ctkit::engine
