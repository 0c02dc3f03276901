#pragma once

#include <string>

#include "installer/journal.h"
#include "installer/request.h"

namespace ctkit::installer {

/// Where the journal is.
inline std::string state_folder(const Request& request) {
  return request.state_dir.empty() ? std::string(kStateFolder) : request.state_dir;
}

}  // namespace ctkit::installer
