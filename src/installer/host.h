#pragma once

#include "installer/file_system.h"

namespace ctkit::installer {

/// The machine, as references to the seams; put together by main.
struct Host {
  FileSystem& files;
};

}  // namespace ctkit::installer
