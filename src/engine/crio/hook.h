#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/crio/loader.h"
#include "engine/engine.h"

namespace ctkit::engine::crio {

/// NVIDIA's OCI hook, which the daemon starts in every container instead of having handlers.
struct Hook {
  std::string program = {};
  std::string folder = {};  ///< empty: the usual one if it is among hooks_dir, else the last of those
  std::string name = "oci-nvidia-hook.json";
};

/// The file as NVIDIA's own tools write it (pkg/config/ocihook).
std::string render_hook(const std::string& program);

/// The one file of hook mode, in a folder of the effective hooks_dir. The daemon watches these folders, so nothing has
/// to be restarted. Fails with `needs_decision` where the daemon would not read it there, or reads a file of that name
/// from a folder that comes later.
Result<std::vector<Candidate>> make_hook_candidates(const Hook& hook,
                                                    const FileReader& files,
                                                    const EffectiveConfig& bare);

/// A hook file of ours that others have edited: it goes as long as it starts our program, since a hook without its
/// program fails every container.
std::optional<std::string> undo_hook(const FileChange& ours, const std::string& text);

}  // namespace ctkit::engine::crio
