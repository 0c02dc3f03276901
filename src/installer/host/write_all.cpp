#include "installer/host/write_all.h"

#include <cerrno>
#include <cstddef>
#include <unistd.h>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

engine::Result<void> write_all(int file, std::string_view text, std::string_view path) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return std::unexpected(make_system_error(errno, "write the file", path));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace ctkit::installer::host
