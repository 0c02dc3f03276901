#include "installer/host/folder_names.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <tuple>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Result;

namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

Result<std::vector<std::string>> read_names(UniqueFd folder, std::string_view path) {
  const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(folder.get()));
  if (!stream) return std::unexpected(make_system_error(errno, "list the folder", path));
  std::ignore = folder.release();  // the stream closes it

  std::vector<std::string> names;
  while (true) {
    errno = 0;  // the end and an error look alike but for errno
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name(static_cast<const char*>(entry->d_name));
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return std::unexpected(make_system_error(errno, "list the folder", path));
  std::ranges::sort(names);
  return names;
}

}  // namespace ctkit::installer::host
