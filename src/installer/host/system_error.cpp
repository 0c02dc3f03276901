#include "installer/host/system_error.h"

#include <cctype>
#include <cerrno>
#include <string>
#include <system_error>

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;

namespace {

ErrorCode code_of(int error_number) {
  if (error_number == EACCES || error_number == EPERM) return ErrorCode::permission;
  if (error_number == ENOENT || error_number == ENOTDIR) return ErrorCode::not_found;
  if (error_number == EISDIR) return ErrorCode::is_directory;
  return ErrorCode::failed;
}

std::string words_of(int error_number) {
  if (error_number == ENXIO) return "it is a socket, or a device without a driver";
  std::string words = std::generic_category().message(error_number);
  if (!words.empty()) {
    words.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(words.front())));
  }
  return words;
}

std::string hint_for(int error_number) {
  if (error_number == EROFS) return "in a container, the folder may be mounted read-only";
  if (error_number == EBUSY) return "a file that is a mount point can't be replaced; mount its folder";
  return "";
}

}  // namespace

Error make_system_error(int error_number, std::string_view doing, std::string_view path) {
  return {.code = code_of(error_number),
          .message = "cannot " + std::string(doing) + ": " + words_of(error_number),
          .where = std::string(path),
          .hint = hint_for(error_number)};
}

}  // namespace ctkit::installer::host
