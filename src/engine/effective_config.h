#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/diagnostic.h"
#include "engine/key_path.h"
#include "engine/layer.h"
#include "engine/origin.h"
#include "engine/value.h"

namespace ctkit::engine {

/// What happened to a value that did not become, or stay where it was written in, the effective config.
struct Event {
  enum class Kind {
    overridden,  ///< a higher layer wrote the same key
    erased,      ///< a higher layer replaced the table it stood in
    moved,       ///< a migration took it to another key
    unread,      ///< nothing in this release reads the key
  };

  Kind kind = Kind::overridden;
  KeyPath key = {};  ///< where it stood
  Value value = {};  ///< the value that lost; its origin says who wrote it
  Origin by = {};    ///< who did it: the winner, or the header of the table that replaced it
  KeyPath to = {};   ///< moved: where it went; erased: the table that was replaced as a whole
};

/// The result of all layers, as the daemon computes it, and how it came about.
struct EffectiveConfig {
  Table config = {};               ///< what `config dump` prints; every leaf has its origin
  std::vector<Event> events = {};  ///< in the order they happened; empty unless they were asked for
  std::vector<Layer> layers = {};  ///< every file loaded, in merge order
  Diagnostics diagnostics = {};
  std::vector<std::string> left_out = {};  ///< handlers that the files define and the daemon drops when it starts
  std::vector<std::string> not_serving =
      {};  ///< why Kubernetes would find no runtime there although the daemon starts; empty: it serves
};

}  // namespace ctkit::engine
