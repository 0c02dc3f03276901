#include "engine/crio/schema.h"

#include <cassert>
#include <cstddef>
#include <vector>

#include "engine/crio/schema/rows.h"

namespace ctkit::engine::crio {

namespace {

using schema::Rows;

std::string_view text(const Rows& rows, std::ptrdiff_t begin) {
  return rows.text + begin;
}

Scalar scalar(const Rows& rows, const schema::ValueRow& row) {
  switch (row.kind) {
    case schema::ValueKind::texts:
      return {};
    case schema::ValueKind::boolean:
      return row.number != 0;
    case schema::ValueKind::integer:
      return row.number;
    case schema::ValueKind::text:
      return text(rows, row.number);
  }
  assert(false);
  return {};
}

template <typename T>
std::span<const T> part(const std::vector<T>& all, const schema::Stretch& stretch) {
  return std::span(all).subspan(stretch.first, stretch.size);
}

/// Each array of rows as what it stands for: a stretch of the rows is a span of that.
struct Unfolded {
  std::vector<std::string_view> words = {};
  std::vector<BuiltIn> built_in = {};
  std::vector<Key> keys = {};
  std::vector<HandlerValue> handler_values = {};
  std::vector<BuiltInHandler> handlers = {};
  std::span<const std::string_view> releases = {};
};

Unfolded unfold(const Rows& rows) {
  Unfolded made;
  for (const schema::Text word : rows.words)
    made.words.push_back(text(rows, word));
  for (const schema::BuiltInRow& row : rows.built_in) {
    made.built_in.push_back(
        {.releases = row.releases, .value = scalar(rows, row.value), .texts = part(made.words, row.value.texts)});
  }
  made.keys.reserve(rows.keys.size());  // a table points at keys before it
  for (const schema::KeyRow& row : rows.keys) {
    made.keys.push_back({.name = text(rows, row.name),
                         .kind = row.kind,
                         .releases = row.releases,
                         .always_there = row.always_there,
                         .built_in = part(made.built_in, row.built_in),
                         .keys = part(made.keys, row.keys)});
  }
  for (const schema::HandlerValueRow& row : rows.handler_values) {
    made.handler_values.push_back(
        {.key = text(rows, row.key), .value = scalar(rows, row.value), .texts = part(made.words, row.value.texts)});
  }
  for (const schema::HandlerRow& row : rows.handlers) {
    made.handlers.push_back(
        {.releases = row.releases, .name = text(rows, row.name), .values = part(made.handler_values, row.values)});
  }
  made.releases = part(made.words, rows.releases);
  return made;
}

const Unfolded& unfolded() {
  static const Unfolded made = unfold(schema::rows());
  return made;
}

}  // namespace

std::span<const std::string_view> recorded_releases() {
  return unfolded().releases;
}

const Key& document() {
  return unfolded().keys.back();
}

std::span<const BuiltInHandler> built_in_handlers() {
  return unfolded().handlers;
}

}  // namespace ctkit::engine::crio
