#pragma once

#include <string>
#include <vector>

#include "engine/crio/known_release.h"
#include "engine/file_reader.h"
#include "engine/layer.h"
#include "engine/result.h"
#include "engine/value.h"

namespace ctkit::engine::crio {

inline constexpr std::string_view kConfigPath = "/etc/crio/crio.conf";
inline constexpr std::string_view kDropInFolder = "/etc/crio/crio.conf.d";

/// Files of this daemon have no schema version.
inline constexpr long kUnversioned = -1;

/// Where the daemon looks, and what it is started with.
struct LoadRequest {
  std::string config_path = std::string(kConfigPath);       ///< "": no main file
  bool config_given = false;                                ///< named by flag or environment: then it must be there
  std::string drop_in_folder = std::string(kDropInFolder);  ///< "": no drop-ins
  std::vector<Table> values = {};  ///< of the command line and the environment, laid over the files one by one
};

/// Every file that the daemon reads, in that order (pkg/config: UpdateFromFile, UpdateFromPath):
/// 1. The main file, if it is there. A folder of that name, or any other failure, stops the daemon.
/// 2. The drop-in folder, if it is there, or the file of that name. Its entries are gone through in
/// byte order of their
///    names, each folder in its own place, and every one that is no folder is read, whatever it is
///    called.
/// 3. A link is read as the file it leads to. One that leads to a folder or to nothing stops the
/// daemon, the drop-in
///    folder itself included; one to /dev/null is an empty file.
/// 4. A folder that would have to lie below a file stops the daemon; one that is missing does not.
/// The first file that the daemon refuses ends it: `daemon_refuses`. `permission` if only we can't
/// read one.
Result<std::vector<Layer>> load(const FileReader& files, const LoadRequest& request, const Known& known);

}  // namespace ctkit::engine::crio
