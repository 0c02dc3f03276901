#include "engine/containerd/schema.h"

#include <bit>
#include <cassert>
#include <deque>
#include <map>
#include <utility>

#include "engine/containerd/schema/rows.h"

namespace ctkit::engine::containerd {

namespace {

using schema::rows;

std::string_view text(std::uint16_t number) {
  const std::size_t begin = rows().text_offsets[number];
  const std::size_t next = rows().text_offsets[number + 1U];
  return {rows().text.data() + begin, next - begin - 1};
}

BuiltIn scalar(std::uint16_t number) {
  const schema::ScalarRow& row = rows().scalars[number];
  switch (row.scalar) {
    case schema::Scalar::none:
      return {};
    case schema::Scalar::boolean:
      return row.value != 0;
    case schema::Scalar::integer:
      return row.value;
    case schema::Scalar::floating:
      return std::bit_cast<double>(row.value);
    case schema::Scalar::text:
      return text(static_cast<std::uint16_t>(row.value));
  }
  assert(false);
  return {};
}

/// The rows of one release made into a Schema, and the arrays that this points into.
class Unfolded {
 public:
  explicit Unfolded(const schema::SchemaRow& row) {
    for (const schema::PluginRow& plugin : list(rows().plugins, rows().plugin_lists[row.plugins])) {
      plugins_.push_back({.id = text(plugin.id), .type = types(plugin.type).data()});
    }
    schema_ = {.release = text(row.release),
               .top = types(row.top).data(),
               .plugins = plugins_,
               .plugin_ids = words(row.plugin_ids),
               .migrations = words(row.migrations)};
  }
  Unfolded(const Unfolded&) = delete;
  Unfolded& operator=(const Unfolded&) = delete;
  Unfolded(Unfolded&&) = delete;
  Unfolded& operator=(Unfolded&&) = delete;
  ~Unfolded() = default;

  [[nodiscard]] const Schema& schema() const { return schema_; }

 private:
  template <typename Row>
  static std::span<const Row> list(std::span<const Row> all, const schema::ListRow& stretch) {
    return all.subspan(stretch.first, stretch.size);
  }

  /// Shared by all that name the same list.
  std::span<const Type> types(std::uint16_t number) {
    if (number == 0) return {};
    if (const auto known = types_.find(number); known != types_.end()) return known->second;
    const auto stretch = list(rows().types, rows().type_lists[number]);
    std::vector<Type> made;
    made.reserve(stretch.size());
    for (const schema::TypeRow& row : stretch)
      made.push_back(type(row));
    return types_.emplace(number, std::move(made)).first->second;
  }

  Type type(const schema::TypeRow& row) {
    return {.name = text(row.name),
            .kind = row.kind,
            .pointer = row.pointer,
            .nil_default = row.nil_default,
            .omit_empty = row.omit_empty,
            .embedded = row.embedded,
            .built_in = scalar(row.built_in),
            .fields = types(row.fields),
            .element = row.element == 0 ? nullptr : types(row.element).data(),
            .entries = types(row.entries),
            .items = types(row.items),
            .strings = words(row.strings)};
  }

  std::span<const std::string_view> words(std::uint16_t number) {
    if (number == 0) return {};
    const auto stretch = list(rows().words, rows().word_lists[number]);
    std::vector<std::string_view> made;
    made.reserve(stretch.size());
    for (const std::uint16_t word : stretch)
      made.push_back(text(word));
    return words_.emplace_back(std::move(made));
  }

  std::map<std::uint16_t, std::vector<Type>> types_;
  std::deque<std::vector<std::string_view>> words_;
  std::vector<PluginType> plugins_;
  Schema schema_;
};

}  // namespace

std::vector<std::string_view> recorded_releases() {
  std::vector<std::string_view> releases;
  for (const schema::SchemaRow& row : rows().schemas)
    releases.push_back(text(row.release));
  return releases;
}

const Schema& recorded_schema(std::string_view release) {
  // Made once: what a Known points to lasts as long as the program.
  static std::map<std::string_view, Unfolded> unfolded;
  if (const auto known = unfolded.find(release); known != unfolded.end()) return known->second.schema();
  for (const schema::SchemaRow& row : rows().schemas) {
    if (text(row.release) == release) return unfolded.try_emplace(text(row.release), row).first->second.schema();
  }
  assert(false);  // not one of recorded_releases()
  return recorded_schema(text(rows().schemas.back().release));
}

}  // namespace ctkit::engine::containerd
