#include <algorithm>
#include <string>

#include "engine/key_path.h"
#include "fuzz/fuzz.h"
#include "toolkit/config.h"
#include "toolkit/toml_edit.h"

using namespace ctkit;
using namespace ctkit::toolkit;

namespace {

constexpr std::string_view kFile = "config.toml";

/// A part of the input, up to a line `---`.
std::string_view take_part(std::string_view& rest) {
  constexpr std::string_view kEnd = "\n---\n";
  const std::string_view part = rest.substr(0, rest.find(kEnd));
  rest.remove_prefix(part.size() == rest.size() ? rest.size() : part.size() + kEnd.size());
  return part;
}

/// Whether a key is the other, or a table on the way to it.
bool is_on_the_way(const engine::KeyPath& key, const Leaves& leaves) {
  for (const auto& [other, unused] : leaves) {
    if (key != other && (key.starts_with(other) || other.starts_with(key))) return true;
  }
  return false;
}

bool has_plain_keys(const engine::Table& table);

bool has_plain_keys(const engine::Value& value) {
  const engine::Array* array = value.array();
  if (array) return std::ranges::all_of(*array, [](const engine::Value& item) { return has_plain_keys(item); });
  return !value.table() || has_plain_keys(*value.table());
}

/// Ours have no need of quotes; what needs them can't always be written for go-toml 1.
bool has_plain_keys(const engine::Table& table) {
  return std::ranges::all_of(table, [](const auto& entry) {
    return engine::quote_key(entry.first) == entry.first && has_plain_keys(entry.second);
  });
}

}  // namespace

/// What we want, what we wrote last, and the file that is there, with a line `---` between.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const auto wanted = parse_config(take_part(rest), kFile);
  const auto written = parse_config(take_part(rest), kFile);
  if (!wanted || !written || !has_plain_keys(*wanted) || !has_plain_keys(*written)) return 0;
  const std::string present(rest);

  const MergedConfig merged = merge_config(*wanted, present, *written, kFile);
  const auto read = parse_config(merged.text, kFile);
  fuzz::demand(read.has_value(), "the merged config reads", merged.text);
  const Leaves leaves = leaves_of(*read);
  const Leaves had = leaves_of(parse_config(present, kFile).value_or(engine::Table{}));
  for (const auto& [key, value] : leaves_of(*wanted)) {
    // A value where a table is wanted, or the other way round: whoever comes last counts.
    if (is_on_the_way(key, had) || is_on_the_way(key, leaves_of(*wanted)) || is_on_the_way(key, leaves_of(*written)))
      return 0;
    const bool kept = std::ranges::find(merged.kept, key.to_string()) != merged.kept.end();
    const auto now = leaves.find(key);
    const auto before = had.find(key);
    if (kept) {
      const bool same = (now == leaves.end() && before == had.end()) ||
                        (now != leaves.end() && before != had.end() && now->second == before->second);
      fuzz::demand(same, "somebody's key is as it was", merged.text);
    } else {
      fuzz::demand(now != leaves.end() && now->second == value, "a key of ours is as wanted", merged.text);
    }
  }
  const MergedConfig again = merge_config(*wanted, merged.text, *wanted, kFile);
  fuzz::demand(again.text == merged.text, "a second time changes nothing", merged.text);
  return 0;
}
