#include <algorithm>
#include <array>
#include <string>

#include "engine/toml_reader.h"
#include "engine/toml_writer.h"
#include "fuzz/fuzz.h"

using namespace ctkit;

namespace {

/// Whether a key has no spelling that go-toml 1 and 2 both read; see toml_writer.h.
bool has_unwritable_key(const engine::Value& value) {
  if (const engine::Array* array = value.array()) return std::ranges::any_of(*array, has_unwritable_key);
  const engine::Table* table = value.table();
  return table && std::ranges::any_of(*table, [](const auto& entry) {
           const auto is_awkward = [](char c) {
             return c == '\'' || c == 0x7f || static_cast<unsigned char>(c) < 0x20;
           };
           const bool quotes = entry.first.find_first_of("\"\\") != std::string::npos;
           return (quotes && std::ranges::any_of(entry.first, is_awkward)) || has_unwritable_key(entry.second);
         });
}

}  // namespace

/// The bytes of one file: no dialect crashes on them, and what it reads it reads again from our
/// writer's text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::array kDialects = {&engine::kGoToml18,
                                           &engine::kGoToml19,
                                           &engine::kGoToml22,
                                           &engine::kGoToml23,
                                           &engine::kGoToml24,
                                           &engine::kBurntSushi11,
                                           &engine::kBurntSushi13,
                                           &engine::kBurntSushi16};
  const std::string_view text = fuzz::text_of(data, size);
  for (const engine::TomlDialect* dialect : kDialects) {
    const auto table = read_toml(text, "fuzz.toml", *dialect);
    if (!table || has_unwritable_key({.data = *table})) continue;
    const std::string written = render_toml(*table);
    const auto again = read_toml(written, "again.toml", *dialect);
    fuzz::demand(again.has_value(),
                 "what render_toml writes is read again",
                 again ? "" : again.error().message + " (" + again.error().where + ")\n" + written);
    fuzz::demand(*again == *table, "reading it gives the same table", written);
  }
  return 0;
}
