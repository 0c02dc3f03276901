#pragma once

#include <memory>
#include <string>

#include "engine/result.h"
#include "installer/file_system.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// A file that is there while everything is verified, and locked while somebody stands for it: a process that was
/// killed leaves a file without a lock.
class ReadinessFile {
 public:
  ReadinessFile(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

  /// Puts it there with this text, or takes it away.
  engine::Result<void> publish(const std::string& text);
  engine::Result<void> withdraw();

 private:
  FileSystem& files_;
  std::string path_;
  std::string text_ = {};
  std::shared_ptr<void> lock_ = {};
};

/// "" if the file says that all is ready and its writer is alive; else why it isn't so.
std::string why_not_ready(const RootFolder& root, const std::string& path);

}  // namespace ctkit::installer::host
