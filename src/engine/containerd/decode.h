#pragma once

#include "engine/containerd/built_in.h"
#include "engine/containerd/regime.h"
#include "engine/containerd/schema.h"
#include "engine/diagnostic.h"
#include "engine/result.h"
#include "engine/transcript.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// What decoding needs besides type and value.
struct DecodeContext {
  const Regime* regime = nullptr;
  const Transcript* transcript = nullptr;
  Diagnostics* diagnostics = nullptr;  ///< unknown keys of 2.x go here
  bool in_file_order = false;  ///< members are met in the order of the file (a file's own text), not as re-encoded
};

/// `value` of a file laid over a variable of the type that now holds `slot`, as the release's go-toml fills Go structs.
///
/// go-toml 1 (marshal.go): 1. a struct's member is looked up by name, all lower, all upper, first letter lower; the
/// first that exists counts, others are ignored without a word. 2. a map is built new, its entries start from zero. 3.
/// numbers are strict: no int for a float, no float for an int. 4. a type with UnmarshalText takes any scalar's text.
///
/// go-toml 2 (unmarshaler.go): 1. a struct's member is found by exact name, else ignoring case; plain keys come before
/// tables, each in byte order, since the daemon encodes the merged section again first. 2. a map keeps its entries; new
/// ones start from zero; an empty table leaves a nil map or pointer nil. 3. an int is taken for a float. 4. an empty
/// table on a scalar is no error. 5. a table on a free-form scalar is. 6. unknown keys are warned of and left out.
///
/// Fails with `daemon_refuses`, or `daemon_crashes` where go-toml panics.
Result<void> decode(
    const Type& type, const Value& value, Slot& slot, const PathNode& path, const DecodeContext& context);

/// The decoded variable as `config dump` prints it: nil maps are empty tables in 1.x and left out in 2.x, nil pointers
/// and empty omit-if-empty members are left out, plain durations become text in 1.x.
Slot printed(const Type& type, const Slot& slot, const Regime& regime);

}  // namespace ctkit::engine::containerd
