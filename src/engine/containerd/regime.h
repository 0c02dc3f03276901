#pragma once

#include <vector>

#include "engine/containerd/schema.h"
#include "engine/diagnostic.h"
#include "engine/release.h"
#include "engine/result.h"
#include "engine/toml_dialect.h"

namespace ctkit::engine::containerd {

/// When old plugin sections are brought to the newest schema version.
enum class Migration {
  none,         ///< 1.x: a file's version only picks the names
  after_merge,  ///< 2.0 to 2.2: once, decided by the version of the last file that has one
  per_file,     ///< 2.3 on: every file before it is merged
};

/// How complete the move of the old CRI section is.
enum class CriMigration {
  whole_table,  ///< 2.0.0: the runtime section becomes the old table
  server_keys,  ///< 2.0.1: as before, and the server section keeps its six keys
  key_by_key,   ///< 2.0.2 on
};

/// Which generation of the TOML library fills the Go structs.
enum class Decoding { go_toml_1, go_toml_2 };

/// How one release loads its configuration: data, so that a test can name any mix. The rules behind the fields are
/// containerd's services/server/config (1.x) and cmd/containerd/server/config (2.x), and go-toml's decoders.
struct Regime {
  long schema_version = 2;     ///< the highest it knows, and what it prints
  bool keyed_plugins = false;  ///< plugin sections of several files merge by key; else the last file's section is all
  bool unique_lists = false;   ///< top-level lists take a value once
  bool rejects_newer = false;  ///< refuses a merged version above its own
  bool globs_from_importer = false;  ///< a relative pattern is the importing file's, not the working directory's
  bool containerd_prefix = false;    ///< plugin names must begin with `io.containerd.`
  bool root_caps_version = false;    ///< refuses a file whose version is above the root's
  Migration migration = Migration::none;
  bool dump_migrates = true;  ///< false: `config dump` shows old sections where the daemon migrates them
  CriMigration cri_migration = CriMigration::key_by_key;
  bool moves_bin_dir = false;      ///< `cni.bin_dir` becomes `cni.bin_dirs`
  bool fills_config_path = false;  ///< an empty registry.config_path becomes the search path while migrating
  Decoding decoding = Decoding::go_toml_1;
  bool integer_durations = false;  ///< a bare integer is a duration in nanoseconds
  /// A table decoded onto a free-form value that holds something else replaces it; else it is refused. From
  /// go-toml 2.4.
  bool replaces_held_values = false;
  bool empty_tables_allocate = false;     ///< an empty table makes a nil pointer point to a struct. From go-toml 2.4
  bool crashes_on_second_decode = false;  ///< go-toml 2.2 and 2.3: arrays of tables in free-form options, decoded twice
  bool diff_proxies = false;              ///< `type = "diff"` is a known proxy plugin
  bool sandbox_proxies = false;           ///< `type = "sandbox"` is one
  bool spaced_headers = false;            ///< prints as go-toml 2.4 does
  const TomlDialect* dialect = nullptr;
};

/// The release as we know it: its regime and its recorded types.
struct Known {
  Release release = {};
  Regime regime = {};
  const Schema* schema = nullptr;
  Diagnostics diagnostics = {};  ///< a note when the types are a neighbour's
};

/// Fails with `unknown_release` below 1.5. A patch release that isn't recorded takes the types of the nearest older one
/// of its line, a line newer than all takes the newest, with a warning.
Result<Known> find_release(const Release& release);

/// The newest recorded release of each line after this one's, oldest first.
std::vector<Release> later_lines(const Release& release);

}  // namespace ctkit::engine::containerd
