#pragma once

#include "engine/containerd/built_in.h"
#include "engine/containerd/regime.h"
#include "engine/containerd/schema.h"
#include "engine/transcript.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// Lays one file's top-level config over what has been collected. Both are decoded top-level structs; their `plugins`
/// are raw tables. containerd: mergeConfig (services/server/config 1.x, cmd/containerd/server/config 2.x), by way of
/// mergo.
///
/// 1. A scalar replaces if it isn't the type's zero: false, 0 and "" never win.
/// 2. A struct table goes member by member by rule 1.
/// 3. A list is appended; with unique_lists only what isn't there yet, within one file too.
/// 4. A map goes by key, the whole entry replaced, an empty one included.
/// 5. `plugins`: without keyed_plugins each id replaces the section of that id; with it they merge by merge_raw.
void merge(const Type& top, Table& collected, const Table& file, const Regime& regime, const Transcript& transcript);

/// Rule 5 with keyed_plugins: tables merge key by key, an empty one changes nothing; everything else replaces, zeros
/// and empty arrays included. Keys are compared by bytes.
void merge_raw(Table& collected, const Table& file, const PathNode& path, const Transcript& transcript);

}  // namespace ctkit::engine::containerd
