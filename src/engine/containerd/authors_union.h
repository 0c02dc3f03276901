#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/containerd/regime.h"
#include "engine/layer.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// One file's CRI table, as its author wrote it.
struct Source {
  const Layer* layer = nullptr;
  const Table* section = nullptr;
};

/// What the authors of all files together meant, where the daemon takes only the last file's table: later over earlier,
/// field by field. Two spellings that the decoder or the shim take for one field count as one, the later file's
/// spelling stays; of two arrays the later.
Table union_of(std::span<const Source> sources, const Type& cri);

/// Drops what the daemon has anyway: members of structs equal to their built-in value. Maps stay whole, the daemon
/// builds them anew.
void drop_built_in(Table& section, const Table& built_in, const Type& cri);

/// Fills a handler's unset fields, options included, from another one.
void fill_unset(Table& handler, const Table& from);

}  // namespace ctkit::engine::containerd
