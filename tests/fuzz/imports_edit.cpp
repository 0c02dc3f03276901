#include "engine/containerd/imports_edit.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/containerd/root_imports.h"
#include "engine/containerd/undo.h"
#include "engine/toml_reader.h"
#include "fuzz/fuzz.h"

using namespace ctkit;
using namespace ctkit::engine::containerd;

namespace {

constexpr std::string_view kFile = "config.toml";

std::vector<std::string> imports_in(const engine::Table& table) {
  std::vector<std::string> names;
  const engine::Value* imports = find(table, "imports");
  if (!imports || !imports->array()) return names;
  for (const engine::Value& import : *imports->array())
    names.push_back(import.string() ? *import.string() : "?");
  return names;
}

/// What the daemon reads differs in the one new import.
void check_meaning(std::string_view before,
                   std::string_view after,
                   std::string_view pattern,
                   const engine::TomlDialect& dialect) {
  auto was = read_toml(before, kFile, dialect);
  if (!was) return;
  auto is = read_toml(after, kFile, dialect);
  fuzz::demand(is.has_value(), "a file that reads still reads", after);
  auto expected = imports_in(*was);
  expected.emplace_back(pattern);
  fuzz::demand(imports_in(*is) == expected, "the pattern is the last import", after);
  was->erase("imports");
  is->erase("imports");
  fuzz::demand(*was == *is, "everything else is as before", after);
}

}  // namespace

/// First line: a letter for the dialect and the pattern; then the top-level config.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array kDialects = {
      &engine::kGoToml18, &engine::kGoToml19, &engine::kGoToml22, &engine::kGoToml23, &engine::kGoToml24};
  std::string_view rest = fuzz::text_of(data, size);
  const std::string_view settings = fuzz::take_until(rest, '\n');
  const engine::TomlDialect& dialect = *kDialects.at(fuzz::choice(settings, 0, kDialects.size()));
  const std::string pattern(settings.substr(std::min<std::size_t>(1, settings.size())));
  const std::string before(rest);

  const auto root = scan_root(before, kFile, dialect);
  const auto after = add_import(before, kFile, pattern, dialect);
  if (!after) {
    fuzz::demand(!after.error().message.starts_with("bug"), after.error().message, before);
    return 0;
  }
  check_meaning(before, *after, pattern, dialect);
  const auto removed = remove_import(*after, kFile, pattern, dialect, !root->imports);
  fuzz::demand(removed.has_value(), "what was added can be removed", *after);
  fuzz::demand(*removed == before, "remove_import undoes add_import byte for byte", *after);

  const auto table = read_toml(before, kFile, dialect);
  const bool there = !table || std::ranges::count(imports_in(*table), pattern) > 0;
  if (there) return 0;
  const engine::FileChange ours{.path = std::string(kFile), .before = before, .after = *after};
  const auto undone = undo(ours, *after, dialect);
  fuzz::demand(undone && *undone == before, "undo gives the bytes from before", *after);
  return 0;
}
