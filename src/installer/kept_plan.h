#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"

namespace ctkit::installer {

/// A file by what is in it; an empty digest: it isn't there.
struct FileDigest {
  std::string path = {};
  std::string digest = {};  ///< SHA-256, hexadecimal
  bool operator==(const FileDigest&) const = default;
};

/// A plan that was looked at, to be carried out later: what was asked for, what it rests on and what it would leave. It
/// holds no text of any file: they may have credentials.
struct KeptPlan {
  std::string engine = {};    ///< "containerd 1.7.27"
  std::string release = {};   ///< as it was given; empty: the host's own
  std::string config = {};    ///< the same
  std::string defaults = {};  ///< the same
  engine::Desired desired = {};
  bool hook_mode = false;
  std::string hooks_folder = {};
  std::string hook_name = {};
  std::vector<FileDigest> inputs = {};   ///< every file that is loaded today
  std::vector<FileDigest> outputs = {};  ///< every file that would be written or removed
};

/// Fails with `usage` at `where` if the text is no such plan.
engine::Result<KeptPlan> parse_kept_plan(std::string_view text, std::string_view where);

std::string render_kept_plan(const KeptPlan& plan);

}  // namespace ctkit::installer
