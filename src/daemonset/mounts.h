#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ctkit::daemonset {

/// A folder of the host that we also see apart from the host root, and can write there: in a container the host root
/// itself is read-only.
struct MappedFolder {
  std::string host = {};  ///< on the host
  std::string here = {};  ///< among our own files
  bool operator==(const MappedFolder&) const = default;
};

/// By the text of /proc/self/mountinfo: every writable mount of ours, outside the host root, that shows a folder (or a
/// file) of a file system that is mounted below the host root too. None if no file system is mounted at the host root.
std::vector<MappedFolder> find_mapped_folders(std::string_view mountinfo, std::string_view host_root);

/// A path of ours as the host has it: by the innermost of the folders that it is in, else below the host root, else as
/// it is.
std::string host_path(const std::vector<MappedFolder>& folders, std::string_view host_root, std::string_view path);

}  // namespace ctkit::daemonset
