#include <array>
#include <string>

#include "engine/toml_reader.h"
#include "engine/toml_writer.h"
#include "fuzz/fuzz.h"

using namespace ctkit;

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
    if (!table) continue;
    const std::string written = render_toml(*table);
    const auto again = read_toml(written, "again.toml", *dialect);
    fuzz::demand(again.has_value(),
                 "what render_toml writes is read again",
                 again ? "" : again.error().message + " (" + again.error().where + ")\n" + written);
    fuzz::demand(*again == *table, "reading it gives the same table", written);
  }
  return 0;
}
