#pragma once

#include <string>

#include "engine/origin.h"
#include "engine/value.h"

namespace ctkit::engine {

/// One loaded file, in merge order.
struct Layer {
  std::string path = {};    ///< as the daemon names it; relative only where the daemon keeps it so
  long schema_version = 0;  ///< what the file says; 0: it says nothing; below: no file has one
  Origin version_origin = {};
  Table table = {};  ///< as read, nothing merged or migrated
};

}  // namespace ctkit::engine
