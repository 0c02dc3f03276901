#pragma once

#include <span>
#include <string_view>

#include "cdi/level.h"

namespace ctkit::cdi {

/// The Go types of a spec's fields (specs-go/config.go).
enum class FieldType {
  text,
  boolean,
  int64,
  uint32,
  texts,
  uint32s,
  dictionary,  ///< map[string]string
  spec,
  device,
  devices,
  edits,
  node,
  nodes,
  mount,
  mounts,
  hook,
  hooks,
  rdt,
  net_device,
  net_devices,
};

/// A key of an object and the levels that know it.
struct Field {
  FieldType owner = FieldType::spec;
  std::string_view name = {};
  FieldType type = FieldType::text;
  Level since = Level::v0_5_4;
  Level until = Level::v1_1_1_pre;
};

bool is_object(FieldType type);
/// What a list holds; the type itself if it is no list.
FieldType element_of(FieldType type);

/// The field that encoding/json would take for the key: the one with that name, else one that
/// differs in case only (Unicode's folding: the Kelvin sign is a k, the long s an s). Null if this
/// level knows none.
const Field* find_field(FieldType owner, std::string_view key, Level level);

/// Go's name of the type, for messages.
std::string_view go_name(FieldType type);

}  // namespace ctkit::cdi
