#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "installer/file_system.h"

namespace ctkit::test {

/// Fake of the host's files: a tree in memory that follows links as the kernel does below the host
/// root, and records each change in the order it took effect. Paths of the arranging functions are
/// taken literally, links not followed.
class MemoryFiles : public installer::FileSystem {
 public:
  struct File {
    std::string text = {};
    unsigned mode = 0644;
    std::int64_t modified = 0;
    bool operator==(const File&) const = default;
  };
  struct Folder {
    bool operator==(const Folder&) const = default;
  };
  struct Link {
    std::string target = {};
    bool operator==(const Link&) const = default;
  };
  using Node = std::variant<File, Folder, Link>;
  using Tree = std::map<std::string, Node>;

  MemoryFiles() = default;
  /// Files as {path, text}; the folders above them are made.
  MemoryFiles(std::initializer_list<std::pair<std::string, std::string>> files);

  /// The time that files written from now on get, in microseconds.
  std::function<std::int64_t()> now = [] { return std::int64_t{0}; };

  // Arranging: not recorded.
  void add_file(const std::string& path, std::string text, unsigned mode = 0644);
  void add_folder(const std::string& path);
  void add_link(const std::string& path, std::string target);
  /// Reading the file or listing the folder fails with `permission`.
  void mark_unreadable(const std::string& path);
  /// Reading the file or listing the folder fails with this error.
  void fail_reads_of(const std::string& path, engine::Error error);
  /// The n-th call from now (1 is the next) of replace, remove, make_folders and remove_folder
  /// fails and changes nothing.
  void fail_mutation(int n, engine::Error error);

  /// Called before each such call; one that throws is a kill.
  std::function<void()> before_mutation = [] {};

  /// What took effect, with the path as it was asked: "replace /etc/x", "remove …", "make_folders
  /// …", "remove_folder …".
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }
  /// Everything there is, by path: equal trees are equal nodes.
  [[nodiscard]] const Tree& tree() const { return tree_; }

  [[nodiscard]] engine::Result<std::string> read(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::vector<std::string>> list(std::string_view folder) const override;
  [[nodiscard]] bool exists(std::string_view path) const override;
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override;
  [[nodiscard]] engine::Result<unsigned> mode_of(std::string_view path) const override;
  /// The time that `now` said when the file was written; a file that was arranged is from 0.
  [[nodiscard]] engine::Result<std::int64_t> modified(std::string_view path) const override;

  [[nodiscard]] engine::Result<void> replace(std::string_view path,
                                             std::string_view text,
                                             installer::FileMode mode) override;
  [[nodiscard]] engine::Result<void> remove(std::string_view path) override;
  [[nodiscard]] engine::Result<std::string> make_folders(std::string_view folder) override;
  [[nodiscard]] engine::Result<std::shared_ptr<void>> lock() override { return std::make_shared<int>(); }
  [[nodiscard]] engine::Result<std::shared_ptr<void>> lock_file(std::string_view path) override;
  /// Files that somebody else has locked.
  std::set<std::string, std::less<>> locked = {};
  [[nodiscard]] engine::Result<bool> remove_folder(std::string_view folder) override;

 private:
  engine::Result<void> begin_mutation();
  [[nodiscard]] engine::Result<void> check_readable(std::string_view path) const;

  Tree tree_{{"/", Folder{}}};
  std::map<std::string, engine::Error, std::less<>> read_errors_;
  std::map<int, engine::Error> mutation_errors_;  // by the number of the call
  int mutations_ = 0;
  std::vector<std::string> log_;
};

}  // namespace ctkit::test
