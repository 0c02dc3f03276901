#pragma once

#include <string>
#include <string_view>

#include "engine/engine.h"
#include "engine/value.h"

namespace ctkit::engine::crio {

/// A handler to copy.
struct Parent {
  std::string name = {};
  const Value* handler = nullptr;  ///< null: there is none
};

/// The default handler if it is of type oci and nobody's nvidia handler, else `runc`, else `crun`.
Parent find_parent(const Table& handlers, std::string_view default_name, const Desired& desired);

/// The table of a desired handler. Of type oci it is a copy of the parent that starts our binary:
/// what would start another one (inherit_default_runtime, paths by platform), what is zero and what
/// the daemon derives itself stay out. Of any other type it takes nothing from the parent.
Table make_handler(const DesiredHandler& handler, const Table& parent);

/// What is written of a handler: no zero values.
Table without_zeros(const Table& handler);

}  // namespace ctkit::engine::crio
