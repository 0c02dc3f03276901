#pragma once

#include <cstdint>
#include <span>

#include "engine/containerd/schema.h"

namespace ctkit::engine::containerd::schema {

// What was recorded of all releases, as tables.cpp holds it. Rows name each other by numbers, 0 being none: pointers
// would have to be relocated at every start, a page fault for each page of them, and a run needs one release of them
// all.

enum class Scalar : std::uint8_t { none, boolean, integer, floating, text };

struct ScalarRow {
  Scalar scalar = Scalar::none;
  std::int64_t value = 0;  ///< floating: the bits of the double; text: its number
};

/// A stretch of one of the arrays.
struct ListRow {
  std::uint16_t first = 0;
  std::uint16_t size = 0;
};

/// A Type: members that are lists are numbers of those lists.
struct TypeRow {
  std::uint16_t name = 0;
  Kind kind = Kind::any;
  bool pointer = false;
  bool nil_default = false;
  bool omit_empty = false;
  bool embedded = false;
  std::uint16_t built_in = 0;  ///< a scalar
  std::uint16_t fields = 0;
  std::uint16_t element = 0;  ///< a list of one
  std::uint16_t entries = 0;
  std::uint16_t items = 0;
  std::uint16_t strings = 0;  ///< a list of words
};

struct PluginRow {
  std::uint16_t id = 0;
  std::uint16_t type = 0;  ///< a list of one
};

struct SchemaRow {
  std::uint16_t release = 0;
  std::uint16_t top = 0;  ///< a list of one
  std::uint16_t plugins = 0;
  std::uint16_t plugin_ids = 0;  ///< a list of words
  std::uint16_t migrations = 0;  ///< a list of words
};

struct Rows {
  std::span<const char> text = {};                   ///< all texts, each with a NUL behind it
  std::span<const std::uint16_t> text_offsets = {};  ///< one more than there are texts
  std::span<const ScalarRow> scalars = {};
  std::span<const TypeRow> types = {};
  std::span<const ListRow> type_lists = {};
  std::span<const std::uint16_t> words = {};
  std::span<const ListRow> word_lists = {};
  std::span<const PluginRow> plugins = {};
  std::span<const ListRow> plugin_lists = {};
  std::span<const SchemaRow> schemas = {};  ///< oldest release first
};

/// Generated.
const Rows& rows();

}  // namespace ctkit::engine::containerd::schema
