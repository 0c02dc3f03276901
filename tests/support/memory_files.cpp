#include "support/memory_files.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace ctkit::test {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using installer::FileMode;
using Tree = MemoryFiles::Tree;
using Node = MemoryFiles::Node;
using File = MemoryFiles::File;
using Folder = MemoryFiles::Folder;
using Link = MemoryFiles::Link;

namespace {

constexpr int kMostLinks = 40;  // the kernel's limit

std::unexpected<Error> fail(ErrorCode code, std::string_view message, std::string_view path) {
  return std::unexpected(Error{.code = code, .message = std::string(message), .where = std::string(path)});
}

std::unexpected<Error> not_found(std::string_view path) {
  return fail(ErrorCode::not_found, "no such file or folder", path);
}

std::unexpected<Error> is_directory(std::string_view path) {
  return fail(ErrorCode::is_directory, "it is a folder", path);
}

const Node* find_node(const Tree& tree, const std::string& path) {
  const auto it = tree.find(path);
  return it == tree.end() ? nullptr : &it->second;
}

bool is_folder(const Node* node) {
  return node != nullptr && std::holds_alternative<Folder>(*node);
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string below(const std::string& folder, std::string_view name) {
  return (folder == "/" ? "/" : folder + "/") + std::string(name);
}

// The parts of a path, last first. A trailing slash leaves a ".", which only a folder has.
std::vector<std::string> reversed_parts(std::string_view path) {
  std::vector<std::string> parts;
  for (const auto part : std::views::split(path, '/')) {
    const std::string_view name(part.begin(), part.end());
    parts.emplace_back(name.empty() ? "." : name);
  }
  std::ranges::reverse(parts);
  return parts;
}

enum class LastLink { follow, keep };

// The path without links and dots. Its last part need not exist, but the folder it is in does.
Result<std::string> resolve(const Tree& tree, std::string_view path, LastLink last) {
  std::string current = "/";
  int links = 0;
  for (auto pending = reversed_parts(path); !pending.empty();) {
    const std::string part = std::move(pending.back());
    pending.pop_back();
    if (!is_folder(find_node(tree, current))) return not_found(path);
    if (part == ".") continue;
    if (part == "..") {
      current = parent_of(current);
      continue;
    }
    const std::string next = below(current, part);
    const Node* node = find_node(tree, next);
    const Link* link = node == nullptr ? nullptr : std::get_if<Link>(node);
    if (link == nullptr || (pending.empty() && last == LastLink::keep)) {
      current = next;
      continue;
    }
    if (++links > kMostLinks) return fail(ErrorCode::failed, "too many levels of links", path);
    if (link->target.starts_with('/')) current = "/";
    std::ranges::copy(reversed_parts(link->target), std::back_inserter(pending));
  }
  return current;
}

Result<std::string> resolve_existing(const Tree& tree, std::string_view path, LastLink last) {
  auto resolved = resolve(tree, path, last);
  if (resolved && find_node(tree, *resolved) == nullptr) return not_found(path);
  return resolved;
}

bool has_children(const Tree& tree, const std::string& folder) {
  const auto next = tree.upper_bound(below(folder, ""));
  return next != tree.end() && next->first.starts_with(below(folder, ""));
}

// A path that ends so can only name a folder.
bool names_folder(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return name.empty() || name == "." || name == "..";
}

std::string_view without_trailing_slashes(std::string_view folder) {
  while (folder.ends_with('/'))
    folder.remove_suffix(1);
  return folder;
}

}  // namespace

MemoryFiles::MemoryFiles(std::initializer_list<std::pair<std::string, std::string>> files) {
  for (const auto& [path, text] : files)
    add_file(path, text);
}

void MemoryFiles::add_file(const std::string& path, std::string text, unsigned mode) {
  add_folder(parent_of(path));
  tree_[path] = File{.text = std::move(text), .mode = mode};
}

void MemoryFiles::add_folder(const std::string& path) {
  if (path != "/") add_folder(parent_of(path));
  tree_[path] = Folder{};
}

void MemoryFiles::add_link(const std::string& path, std::string target) {
  add_folder(parent_of(path));
  tree_[path] = Link{.target = std::move(target)};
}

void MemoryFiles::mark_unreadable(const std::string& path) {
  fail_reads_of(path, {.code = ErrorCode::permission, .message = "permission denied", .where = path});
}

void MemoryFiles::fail_reads_of(const std::string& path, Error error) {
  read_errors_.insert_or_assign(path, std::move(error));
}

void MemoryFiles::fail_mutation(int n, Error error) {
  mutation_errors_.insert_or_assign(mutations_ + n, std::move(error));
}

Result<void> MemoryFiles::begin_mutation() {
  before_mutation();
  const auto it = mutation_errors_.find(++mutations_);
  if (it != mutation_errors_.end()) return std::unexpected(it->second);
  return {};
}

Result<void> MemoryFiles::check_readable(std::string_view path) const {
  const auto it = read_errors_.find(path);
  if (it != read_errors_.end()) return std::unexpected(it->second);
  return {};
}

Result<std::string> MemoryFiles::read(std::string_view path) const {
  if (auto readable = check_readable(path); !readable) return std::unexpected(readable.error());
  auto resolved = resolve_existing(tree_, path, LastLink::follow);
  if (!resolved && resolved.error().code == ErrorCode::failed) resolved.error().code = ErrorCode::unreadable;
  if (!resolved) return resolved;
  if (auto readable = check_readable(*resolved); !readable) {
    return std::unexpected(readable.error());
  }
  const auto* file = std::get_if<File>(find_node(tree_, *resolved));
  if (file == nullptr) return is_directory(path);
  return file->text;
}

Result<std::vector<std::string>> MemoryFiles::list(std::string_view folder) const {
  if (auto readable = check_readable(folder); !readable) return std::unexpected(readable.error());
  const auto resolved = resolve_existing(tree_, folder, LastLink::follow);
  if (!resolved) return std::unexpected(resolved.error());
  if (auto readable = check_readable(*resolved); !readable) {
    return std::unexpected(readable.error());
  }
  if (!is_folder(find_node(tree_, *resolved))) return not_found(folder);
  std::vector<std::string> names;
  const std::string prefix = below(*resolved, "");
  for (auto it = tree_.upper_bound(prefix); it != tree_.end() && it->first.starts_with(prefix); ++it) {
    const std::string name = it->first.substr(prefix.size());
    if (!name.contains('/')) names.push_back(name);
  }
  return names;
}

bool MemoryFiles::exists(std::string_view path) const {
  return resolve_existing(tree_, path, LastLink::keep).has_value();
}

std::optional<std::string> MemoryFiles::link_target(std::string_view path) const {
  const auto resolved = resolve_existing(tree_, path, LastLink::keep);
  const auto* link = resolved ? std::get_if<Link>(find_node(tree_, *resolved)) : nullptr;
  return link ? std::optional(link->target) : std::nullopt;
}

Result<unsigned> MemoryFiles::mode_of(std::string_view path) const {
  const auto resolved = resolve_existing(tree_, path, LastLink::follow);
  if (!resolved) return std::unexpected(resolved.error());
  const auto* file = std::get_if<File>(find_node(tree_, *resolved));
  return file == nullptr ? 0755U : file->mode;
}

Result<std::int64_t> MemoryFiles::modified(std::string_view path) const {
  const auto resolved = resolve_existing(tree_, path, LastLink::follow);
  if (!resolved) return std::unexpected(resolved.error());
  const auto* file = std::get_if<File>(find_node(tree_, *resolved));
  return file == nullptr ? 0 : file->modified;
}

Result<std::shared_ptr<void>> MemoryFiles::lock_file(std::string_view path) {
  if (locked.contains(path)) return fail(ErrorCode::locked, "somebody else has it", path);
  return std::make_shared<int>();
}

Result<void> MemoryFiles::replace(std::string_view path, std::string_view text, FileMode mode) {
  if (auto begun = begin_mutation(); !begun) return begun;
  if (names_folder(path)) return is_directory(path);
  const auto resolved = resolve(tree_, path, LastLink::follow);
  if (!resolved) return std::unexpected(resolved.error());
  const Node* node = find_node(tree_, *resolved);
  if (is_folder(node)) return is_directory(path);
  const auto* old = node == nullptr ? nullptr : std::get_if<File>(node);
  if (mode.instead_of != nullptr && *mode.instead_of != (old == nullptr ? std::nullopt : std::optional(old->text))) {
    return std::unexpected(Error{.message = "the file has been changed meanwhile", .where = std::string(path)});
  }
  tree_[*resolved] = File{.text = std::string(text),
                          .mode = old == nullptr || mode.for_existing ? mode.mode : old->mode,
                          .modified = now()};
  log_.push_back("replace " + std::string(path));
  return {};
}

Result<void> MemoryFiles::remove(std::string_view path) {
  if (auto begun = begin_mutation(); !begun) return begun;
  if (names_folder(path)) return is_directory(path);
  const auto resolved = resolve_existing(tree_, path, LastLink::keep);
  if (!resolved) return std::unexpected(resolved.error());
  if (is_folder(find_node(tree_, *resolved))) return is_directory(path);
  tree_.erase(*resolved);
  log_.push_back("remove " + std::string(path));
  return {};
}

Result<std::string> MemoryFiles::make_folders(std::string_view folder) {
  if (auto begun = begin_mutation(); !begun) return std::unexpected(begun.error());
  Tree tree = tree_;  // all or nothing
  std::string topmost;
  for (std::size_t start = 0; start < folder.size();) {
    const std::size_t end = std::min(folder.find('/', start), folder.size());
    const std::string_view path = folder.substr(0, end);
    const bool is_part = end != start;
    start = end + 1;
    if (!is_part) continue;
    const auto followed = resolve(tree, path, LastLink::follow);
    if (followed && is_folder(find_node(tree, *followed))) continue;
    if (!followed && followed.error().code != ErrorCode::not_found) return followed;
    // A file or a dangling link is in the way.
    const auto kept = resolve(tree, path, LastLink::keep);
    if (!kept || find_node(tree, *kept) != nullptr) {
      return fail(ErrorCode::failed, "it exists and is no folder", path);
    }
    tree[*kept] = Folder{};
    if (topmost.empty()) topmost = path;
  }
  tree_ = std::move(tree);
  if (!topmost.empty()) log_.push_back("make_folders " + std::string(folder));
  return topmost;
}

Result<bool> MemoryFiles::remove_folder(std::string_view folder) {
  if (auto begun = begin_mutation(); !begun) return std::unexpected(begun.error());
  const auto path = without_trailing_slashes(folder);
  if (names_folder(path)) return is_directory(folder);
  const auto resolved = resolve_existing(tree_, path, LastLink::keep);
  if (!resolved) return std::unexpected(resolved.error());
  if (!is_folder(find_node(tree_, *resolved))) return not_found(folder);
  if (has_children(tree_, *resolved)) return false;
  tree_.erase(*resolved);
  log_.push_back("remove_folder " + std::string(folder));
  return true;
}

}  // namespace ctkit::test
