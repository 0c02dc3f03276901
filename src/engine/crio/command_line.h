#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/crio/known_release.h"
#include "engine/file_reader.h"
#include "engine/origin.h"
#include "engine/result.h"
#include "engine/value.h"

namespace ctkit::engine::crio {

/// A word of the daemon's command line.
struct StartWord {
  std::string text = {};
  Origin origin = {};  ///< the file it comes from; none: it was seen on the running process
};

/// A variable of its environment.
struct StartVariable {
  std::string name = {};
  std::string value = {};
  Origin origin = {};
};

/// What the daemon is started with; the words are without the program's own name.
struct StartWords {
  std::vector<StartWord> words = {};
  std::vector<StartVariable> variables = {};
};

/// What that sets.
struct CommandLine {
  std::optional<std::string> config_path = std::nullopt;     ///< named; "": no main file is read
  std::optional<std::string> drop_in_folder = std::nullopt;  ///< named; "": no folder is read
  std::vector<Table> values = {};                            ///< documents of one value each, in the order they are set
};

/// Reads flags and variables as the daemon does (internal/criocli: mergeConfig, over urfave/cli):
/// 1. A flag beats its variable, both beat every file, and each replaces a whole value.
/// 2. A flag is named like its key with dashes, its variable CONTAINER_ and the key in capitals; the exceptions are
///    tables.
/// 3. Lists are given by commas or by the flag again; from a variable by commas.
/// 4. `--runtimes name:path:root[:type[:privileged_without_host_devices[:config_path[:container_min_memory]]]]` defines
///    handlers anew, of type oci.
/// A flag that sets no key of this release is passed over. Fails with `daemon_refuses` at a value of the wrong type.
Result<CommandLine> read_command_line(const Known& known, const StartWords& start);

/// The words that the packaged unit takes from /etc/sysconfig/crio, and the variables set there; none without the file.
StartWords read_environment_file(const FileReader& files);

}  // namespace ctkit::engine::crio
