#pragma once

#include <string>
#include <vector>

#include "cdi/tree.h"
#include "engine/result.h"
#include "toolkit/config_settings.h"
#include "toolkit/running_programs.h"
#include "toolkit/tree_writer.h"

// Where things are, below the install folder (usually /usr/local/nvidia):
//   toolkit                      a link to the version in use; the handlers name paths through it
//   .toolkit/1.20.0-1, …-2       versions, each whole: its config.toml, and what we wrote as that, too
//   .toolkit/staged              one that is being made; of a run that was killed
// A link and not a folder: its rename is at once on every file system, and a stock installer, which removes `toolkit`
// first, removes just the link. A folder `toolkit` of such an installer is exchanged for our link at once and stays as
// `.toolkit/stock-1`, a version like others: until a clean-up when no process runs from it.
namespace ctkit::toolkit {

/// What to install. Paths of the host are those that containers' runtimes use.
struct InstallRequest {
  std::string source_root = {};  ///< in the source tree, such as /artifacts/deb
  std::string install_folder = "/usr/local/nvidia";
  /// In the source tree: a program to be installed as `ctkit`, and under the name of the hooks if the artifacts have
  /// none. Empty: none.
  std::string own_program = {};
  ConfigSettings config = {};
};

/// What an installation works on.
struct InstallHost {
  const cdi::Tree& source;  ///< our own files
  const cdi::Tree& tree;    ///< the host's, as `writer` changes them
  TreeWriter& writer;
  RunningPrograms& programs;
};

/// What became of it.
struct Installed {
  std::string folder = {};   ///< `<install folder>/toolkit`
  std::string version = {};  ///< the name of the version in use, such as 1.20.0-2
  bool switched = false;     ///< false: the files were there, each as wanted
  bool config_written = false;
  std::vector<std::string> kept_keys = {};  ///< of config.toml, that somebody set to other values than ours
  std::vector<std::string> warnings = {};
};

/// Puts the toolkit's files in place. At every moment, whatever fails or is killed, the paths that handlers name lead
/// to a whole version. After an error the version in use is the one from before. Nothing is written if all is as
/// wanted. The caller holds the node's lock.
engine::Result<Installed> install_toolkit(const InstallRequest& request, InstallHost& host);

/// Removes versions that are not in use and that no process runs from, and what a killed run left; the names of those
/// removed. The version that a switch replaced stays until this is called, so that who is on the way into it arrives.
engine::Result<std::vector<std::string>> remove_old_versions(const std::string& install_folder, InstallHost& host);

/// Takes everything of ours away, the link first, and tells what was there. A folder `toolkit` that isn't ours stays.
engine::Result<std::vector<std::string>> uninstall_toolkit(const std::string& install_folder,
                                                           const cdi::Tree& tree,
                                                           TreeWriter& writer);

}  // namespace ctkit::toolkit
