#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"
#include "toolkit/running_programs.h"
#include "toolkit/tree_writer.h"

namespace ctkit::test {

/// What has a name in a tree in memory.
struct TreeNode {
  cdi::FileStatus status = {};
  std::string text = {};  ///< of a file; of a link its target
  bool operator==(const TreeNode&) const = default;
};

/// Fake of a folder tree, with links as the kernel follows them below a root. Paths of the arranging functions are
/// taken literally; the folders above are made.
class MemoryTree : public cdi::Tree {
 public:
  using Nodes = std::map<std::string, TreeNode, std::less<>>;

  MemoryTree() : nodes_(std::make_shared<Nodes>()) { (*nodes_)["/"] = {.status = {.kind = cdi::FileKind::folder}}; }

  void add_file(const std::string& path, std::string text, unsigned mode = 0644);
  void add_folder(const std::string& path);
  void add_link(const std::string& path, std::string target);
  void add_device(const std::string& path, unsigned major, unsigned minor);

  [[nodiscard]] const Nodes& nodes() const { return *nodes_; }
  [[nodiscard]] Nodes& nodes() { return *nodes_; }
  /// The place at the end of the links on the way, and of the last part's too if `last`. Nothing for a loop or a way
  /// over what isn't there.
  [[nodiscard]] std::optional<std::string> resolve(std::string_view path, bool last) const;
  /// The text of the file that the path leads to.
  [[nodiscard]] std::optional<std::string> text_of(std::string_view path) const;

  [[nodiscard]] engine::Result<std::unique_ptr<cdi::Tree>> below(std::string_view folder) const override;
  [[nodiscard]] engine::Result<cdi::FileStatus> look(std::string_view path) const override;
  [[nodiscard]] engine::Result<cdi::FileStatus> follow(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::string> target_of(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::vector<std::string>> names_in(std::string_view folder) const override;
  [[nodiscard]] engine::Result<std::string> read(std::string_view path,
                                                 std::uint64_t offset,
                                                 std::size_t size) const override;

 private:
  std::shared_ptr<Nodes> nodes_;
  std::string root_ = {};  ///< a prefix for `below`
};

/// Changes a tree in memory as the seam says. Every call is a step, `copy_file` and `remove_all` several: one for each
/// name that shows.
class MemoryWriter : public toolkit::TreeWriter {
 public:
  MemoryWriter(const MemoryTree& source, MemoryTree& tree) : source_(source), tree_(tree) {}

  /// Called before each step; one that throws is a kill.
  std::function<void()> before_step = [] {};
  /// The n-th step from now (1 is the next) fails, as do all after it that write while `disk_is_full`.
  int failing_step = 0;
  engine::Error failure = {};
  int steps = 0;
  std::vector<std::string> log = {};

  [[nodiscard]] engine::Result<void> make_folder(const std::string& path) override;
  [[nodiscard]] engine::Result<void> add_file(const std::string& path, std::string_view text, unsigned mode) override;
  [[nodiscard]] engine::Result<void> copy_file(const std::string& source,
                                               const std::string& path,
                                               unsigned mode) override;
  [[nodiscard]] engine::Result<void> replace_file(const std::string& path,
                                                  std::string_view text,
                                                  unsigned mode) override;
  [[nodiscard]] engine::Result<void> add_link(const std::string& path, const std::string& target) override;
  [[nodiscard]] engine::Result<void> settle(const std::string& folder) override;
  [[nodiscard]] engine::Result<void> rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] engine::Result<void> take_place(const std::string& from, const std::string& to) override;
  [[nodiscard]] engine::Result<void> remove_all(const std::string& path) override;

 private:
  engine::Result<void> begin(const std::string& what);
  engine::Result<std::string> new_place(const std::string& path);
  void move(const std::string& from, const std::string& to);

  const MemoryTree& source_;
  MemoryTree& tree_;
};

/// Fake of what runs on the host.
class FakePrograms : public toolkit::RunningPrograms {
 public:
  std::vector<std::string> running = {};
  bool noexec = false;

  [[nodiscard]] std::vector<std::string> list() override { return running; }
  [[nodiscard]] engine::Result<bool> may_run_from(const std::string&) override { return !noexec; }
};

}  // namespace ctkit::test
