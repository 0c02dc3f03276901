#pragma once

#include <cstdint>
#include <span>

#include "engine/crio/schema.h"

namespace ctkit::engine::crio::schema {

// What was recorded, as tables.cpp holds it. Rows name each other and their texts by numbers: pointers would have to be
// relocated at every start, a page fault for each page of them, and most runs never look at CRI-O.

/// Where a text begins in Rows::text.
using Text = std::uint16_t;

/// A stretch of one of the arrays.
struct Stretch {
  std::uint16_t first = 0;
  std::uint16_t size = 0;
};

enum class ValueKind : std::uint8_t { texts, boolean, integer, text };

struct ValueRow {
  ValueKind kind = ValueKind::texts;
  std::int32_t number = 0;  ///< text: a Text
  Stretch texts = {};       ///< of words
};

struct BuiltInRow {
  Releases releases = 0;
  ValueRow value = {};
};

struct KeyRow {
  Text name = 0;
  Releases releases = 0;
  Kind kind = Kind::text;
  bool always_there = false;
  Stretch built_in = {};
  Stretch keys = {};  ///< they come before the row that names them
};

struct HandlerValueRow {
  Text key = 0;
  ValueRow value = {};
};

struct HandlerRow {
  Releases releases = 0;
  Text name = 0;
  Stretch values = {};
};

struct Rows {
  const char* text = nullptr;  ///< all texts, each with a NUL behind it
  std::span<const Text> words = {};
  std::span<const BuiltInRow> built_in = {};
  std::span<const KeyRow> keys = {};  ///< the last one is the document
  std::span<const HandlerValueRow> handler_values = {};
  std::span<const HandlerRow> handlers = {};
  Stretch releases = {};  ///< of words
};

/// Generated.
Rows rows();

}  // namespace ctkit::engine::crio::schema
