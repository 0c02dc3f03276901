#pragma once

#include <string_view>

#include "engine/result.h"
#include "installer/file_system.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// Puts the text at the place, durably and at once: readers see the old bytes or the new ones, at
/// any moment and after a crash. A file that is there passes on owner, mode, SELinux label and ACL;
/// a new one gets `mode`. `path` is for errors. After an error the file is as before, but when
/// syncing the folder failed: then it is either, and whole.
engine::Result<void> replace_durably(const Place& place, std::string_view text, FileMode mode, std::string_view path);

/// Makes changes of names in the folder durable.
engine::Result<void> sync_folder(int folder, std::string_view path);

}  // namespace ctkit::installer::host
