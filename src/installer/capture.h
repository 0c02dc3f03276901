#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::installer {

/// What `capture.json` beside a recorded tree says about the daemon that ran there; empty where it says nothing.
struct Capture {
  std::string engine = {};
  std::string release = {};
  std::string config = {};
  std::string working_folder = {};
  std::string defaults = {};  ///< a file beside capture.json with the daemon's own `config default`
};

/// Fails with `usage` at `where` if the text is no such record.
engine::Result<Capture> parse_capture(std::string_view text, std::string_view where);

}  // namespace ctkit::installer
