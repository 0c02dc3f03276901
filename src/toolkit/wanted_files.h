#pragma once

#include <string>
#include <variant>
#include <vector>

#include "toolkit/artifacts.h"

namespace ctkit::toolkit {

/// The bytes of a file of the source tree.
struct CopiedFile {
  std::string source = {};
  unsigned mode = 0;
};

/// A text of ours.
struct TextFile {
  std::string text = {};
  unsigned mode = 0;
};

struct LinkedName {
  std::string target = {};
};

/// One name in the toolkit folder.
struct WantedFile {
  std::string name = {};
  std::variant<CopiedFile, TextFile, LinkedName> content = {};
};

struct WantedRequest {
  std::string toolkit_folder = {};
  std::vector<std::string> low_level_runtimes = {};
  std::string own_program = {};  ///< in the source tree; empty: none
};

/// Everything in the toolkit folder but config.toml, in the order it is written (nvidia-container-toolkit v1.20.0).
std::vector<WantedFile> make_wanted_files(const Artifacts& artifacts, const WantedRequest& request);

}  // namespace ctkit::toolkit
