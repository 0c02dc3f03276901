#pragma once

#include <string>
#include <string_view>

#include "engine/crio/known_release.h"
#include "engine/crio/schema.h"
#include "engine/diagnostic.h"
#include "engine/result.h"
#include "engine/transcript.h"
#include "engine/value.h"

namespace ctkit::engine::crio {

/// Whether two keys are the same to Go's strings.EqualFold: ASCII letters without regard to case,
/// and the two letters beyond ASCII that fold to one of them.
bool same_key(std::string_view left, std::string_view right);

/// The member that a file's key names: the one spelled so, else one that is the same key; null if
/// this release has none.
const Key* find_key(const Key& table, std::string_view written, const Known& known);

struct DecodeContext {
  const Known* known = nullptr;
  const Transcript* transcript = nullptr;
  Diagnostics* diagnostics = nullptr;
};

/// Lays one file over the configuration so far (BurntSushi/toml: decode.go, unify…):
/// 1. Keys that the release does not know are passed over, whatever they hold. Key names match
/// without regard to case.
/// 2. Known keys are strictly typed; nothing is converted, but a duration may be text or
/// nanoseconds.
/// 3. A table of handlers, of workloads or of strings that is given anything but a table is passed
/// over.
/// 4. Tables merge key by key; lists are replaced; an entry of a table of handlers or workloads
/// starts from nothing. Of two spellings of a key in one table the daemon takes either; we take the
/// later one and say so. Fails with `daemon_refuses` at the value's place.
Result<void> decode(
    const Key& type, const Table& file, Table& config, const PathNode& path, const DecodeContext& context);

}  // namespace ctkit::engine::crio
