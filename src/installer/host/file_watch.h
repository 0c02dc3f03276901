#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemonset/watch_item.h"
#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// inotify on folders of the host and of our own. A folder that isn't there is waited for where it would be.
class FileWatch {
 public:
  static engine::Result<FileWatch> open(const std::string& host_root);

  /// What came of setting the watch.
  struct Set {
    bool grew = false;        ///< folders are watched now that were not: what happened there before, nobody told
    std::string failed = {};  ///< the first reason why something can't be watched; "": all is
  };

  /// Watches these, and nothing else any more.
  Set set(const std::vector<daemonset::WatchItem>& items);

  /// Readable when something happened.
  [[nodiscard]] int fd() const { return inotify_.get(); }

  /// What happened since: paths, each once, in order; of the host those of the host.
  std::vector<std::string> read();

  /// Who changed the path last, and when, as far as the file tells.
  [[nodiscard]] std::string describe(const std::string& path) const;

 private:
  struct Watched {
    daemonset::WatchItem item = {};
    bool exact = false;  ///< the name is the prefix, or begins it and a slash follows
    bool operator==(const Watched&) const = default;
  };

  FileWatch(UniqueFd inotify, RootFolder host, RootFolder here)
      : inotify_(std::move(inotify)), host_(std::move(host)), here_(std::move(here)) {}

  std::string add(const daemonset::WatchItem& item, std::map<int, std::vector<Watched>>& watched);

  UniqueFd inotify_;
  RootFolder host_;
  RootFolder here_;
  std::map<int, std::vector<Watched>> watched_ = {};  ///< by inotify's number of the folder
};

}  // namespace ctkit::installer::host
