#include "installer/host/readiness_file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

#include "cdi/path.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::ErrorCode;
using engine::Result;

Result<void> ReadinessFile::publish(const std::string& text) {
  if (lock_ && text == text_) return {};
  if (auto made = files_.make_folders(cdi::folder_of(path_)); !made) return std::unexpected(made.error());
  if (auto done = files_.replace(path_, text, {}); !done) return done;
  auto lock = files_.lock_file(path_);
  if (!lock) return std::unexpected(lock.error());
  lock_ = *std::move(lock);
  text_ = text;
  return {};
}

Result<void> ReadinessFile::withdraw() {
  auto done = files_.remove(path_);
  lock_.reset();
  text_.clear();
  if (!done && done.error().code == ErrorCode::not_found) return {};
  return done;
}

std::string why_not_ready(const RootFolder& root, const std::string& path) {
  const auto file = root.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file && file.error().code == ErrorCode::not_found) return "'" + path + "' is not there";
  if (!file) return file.error().message + " (" + path + ")";
  // Shared: two who ask don't take each other for the writer.
  if (::flock(file->get(), LOCK_SH | LOCK_NB) == 0) {
    return "nobody stands for '" + path + "' any more: `ctkit run` has ended";
  }
  return errno == EWOULDBLOCK ? "" : make_system_error(errno, "look at the lock of", path).message;
}

}  // namespace ctkit::installer::host
