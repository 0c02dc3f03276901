#pragma once

#include <string>
#include <vector>

#include "engine/containerd/regime.h"
#include "engine/file_reader.h"
#include "engine/layer.h"
#include "engine/result.h"
#include "engine/transcript.h"

namespace ctkit::engine::containerd {

/// Which files, and seen from where.
struct LoadRequest {
  std::string config_path = "/etc/containerd/config.toml";
  bool config_given = false;         ///< named on the daemon's command line: it must exist
  std::string working_folder = "/";  ///< of the daemon; old releases resolve relative patterns from it
  bool as_dump = false;              ///< what `config dump` does where the daemon does something else
};

/// One file as read, and its top-level struct as Go holds it.
struct LoadedFile {
  Layer layer = {};
  Table config = {};  ///< decoded top-level struct, `plugins` raw
};

struct Loaded {
  std::vector<LoadedFile> files = {};  ///< in merge order; none: the daemon runs on its defaults
  bool stopped_early = false;          ///< `config dump` of 2.x gave up at a missing import, and skips its last checks
  Diagnostics diagnostics = {};
};

/// Reads the top-level config and what it imports, breadth first, each path once. containerd: LoadConfig,
/// loadConfigFile, resolveImports in services/server/config (1.x) and cmd/containerd/server/config (2.x).
///
/// 1. A path is known by its spelling: another spelling or a link is another file.
/// 2. Only a `*` makes an import a pattern; it is globbed as Go does. With globs_from_importer it is cleaned and joined
/// to
///    the importing file's folder first, else a pattern is taken as it stands, from the working folder.
/// 3. A literal that isn't there: refused by 1.x and by the daemon of 2.x; `config dump` of 2.x stops there.
Result<Loaded> load(const FileReader& files,
                    const LoadRequest& request,
                    const Known& known,
                    const Transcript& transcript);

}  // namespace ctkit::engine::containerd
