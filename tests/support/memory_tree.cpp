#include "support/memory_tree.h"

#include <utility>

#include "cdi/path.h"

namespace ctkit::test {

using cdi::FileKind;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr int kMostLinks = 40;
constexpr unsigned kFolderMode = 0755;

Error not_there(std::string_view path) {
  return {.code = ErrorCode::not_found, .message = "no such file or folder", .where = std::string(path)};
}

std::optional<std::string> resolve_in(
    const MemoryTree::Nodes& nodes, const std::string& root, std::string_view path, bool last, int& links) {
  const std::string clean = cdi::clean(path);
  if (clean == "/") return root.empty() ? "/" : root;
  const auto folder = resolve_in(nodes, root, cdi::folder_of(clean), true, links);
  if (!folder) return std::nullopt;
  const auto above = nodes.find(*folder);
  if (above == nodes.end() || above->second.status.kind != FileKind::folder) return std::nullopt;
  const std::string here = cdi::join(*folder, cdi::base_name(clean));
  const auto node = nodes.find(here);
  if (node == nodes.end() || node->second.status.kind != FileKind::link || !last) return here;
  if (++links > kMostLinks) return std::nullopt;
  const std::string& target = node->second.text;
  if (target.starts_with('/')) return resolve_in(nodes, root, target, true, links);
  return resolve_in(nodes, root, cdi::join(folder->substr(root.size()), target), true, links);
}

}  // namespace

void MemoryTree::add_folder(const std::string& path) {
  if (path != "/") add_folder(std::string(cdi::folder_of(path)));
  nodes_->try_emplace(path, TreeNode{.status = {.kind = FileKind::folder, .mode = kFolderMode}});
}

void MemoryTree::add_file(const std::string& path, std::string text, unsigned mode) {
  add_folder(std::string(cdi::folder_of(path)));
  (*nodes_)[path] = {.status = {.kind = FileKind::file, .mode = mode}, .text = std::move(text)};
}

void MemoryTree::add_link(const std::string& path, std::string target) {
  add_folder(std::string(cdi::folder_of(path)));
  (*nodes_)[path] = {.status = {.kind = FileKind::link, .mode = 0777}, .text = std::move(target)};
}

void MemoryTree::add_device(const std::string& path, unsigned major, unsigned minor) {
  add_folder(std::string(cdi::folder_of(path)));
  (*nodes_)[path] = {.status = {.kind = FileKind::character_device, .mode = 0666, .major = major, .minor = minor}};
}

std::optional<std::string> MemoryTree::resolve(std::string_view path, bool last) const {
  int links = 0;
  return resolve_in(*nodes_, root_, path, last, links);
}

std::optional<std::string> MemoryTree::text_of(std::string_view path) const {
  const auto place = resolve(path, true);
  const auto node = place ? nodes_->find(*place) : nodes_->end();
  if (node == nodes_->end() || node->second.status.kind != FileKind::file) return std::nullopt;
  return node->second.text;
}

Result<std::unique_ptr<cdi::Tree>> MemoryTree::below(std::string_view folder) const {
  const auto place = resolve(folder, true);
  if (!place || !nodes_->contains(*place)) return std::unexpected(not_there(folder));
  auto tree = std::make_unique<MemoryTree>();
  tree->nodes_ = nodes_;
  tree->root_ = *place == "/" ? "" : *place;
  return tree;
}

Result<cdi::FileStatus> MemoryTree::look(std::string_view path) const {
  const auto place = resolve(path, false);
  const auto node = place ? nodes_->find(*place) : nodes_->end();
  if (node == nodes_->end()) return std::unexpected(not_there(path));
  return node->second.status;
}

Result<cdi::FileStatus> MemoryTree::follow(std::string_view path) const {
  const auto place = resolve(path, true);
  const auto node = place ? nodes_->find(*place) : nodes_->end();
  if (node == nodes_->end()) return std::unexpected(not_there(path));
  return node->second.status;
}

Result<std::string> MemoryTree::target_of(std::string_view path) const {
  const auto place = resolve(path, false);
  const auto node = place ? nodes_->find(*place) : nodes_->end();
  if (node == nodes_->end()) return std::unexpected(not_there(path));
  if (node->second.status.kind != FileKind::link) return std::unexpected(Error{.message = "not a link"});
  return node->second.text;
}

Result<std::vector<std::string>> MemoryTree::names_in(std::string_view folder) const {
  const auto place = resolve(folder, true);
  const auto node = place ? nodes_->find(*place) : nodes_->end();
  if (node == nodes_->end() || node->second.status.kind != FileKind::folder) return std::unexpected(not_there(folder));
  std::vector<std::string> names;
  for (const auto& [path, unused] : *nodes_) {
    if (path != "/" && path != *place && cdi::folder_of(path) == *place) names.emplace_back(cdi::base_name(path));
  }
  return names;
}

Result<std::string> MemoryTree::read(std::string_view path, std::uint64_t offset, std::size_t size) const {
  const auto text = text_of(path);
  if (!text) return std::unexpected(not_there(path));
  return offset >= text->size() ? "" : text->substr(offset, size);
}

Result<void> MemoryWriter::begin(const std::string& what) {
  before_step();
  ++steps;
  if (failing_step == steps) return std::unexpected(failure);
  log.push_back(what);
  return {};
}

Result<std::string> MemoryWriter::new_place(const std::string& path) {
  const auto place = tree_.resolve(path, false);
  if (!place || !tree_.resolve(cdi::folder_of(path), true)) return std::unexpected(not_there(path));
  if (tree_.nodes().contains(*place)) return std::unexpected(Error{.message = "it is there already", .where = path});
  return *place;
}

Result<void> MemoryWriter::make_folder(const std::string& path) {
  if (const auto status = tree_.follow(path); status && status->kind == FileKind::folder) return {};
  if (auto begun = begin("make " + path); !begun) return begun;
  const std::string above(cdi::folder_of(path));
  if (!tree_.follow(above)) {
    if (auto made = make_folder(above); !made) return made;
  }
  const auto place = new_place(path);
  if (!place) return std::unexpected(place.error());
  tree_.add_folder(*place);
  return {};
}

Result<void> MemoryWriter::add_file(const std::string& path, std::string_view text, unsigned mode) {
  if (auto begun = begin("add " + path); !begun) return begun;
  const auto place = new_place(path);
  if (!place) return std::unexpected(place.error());
  tree_.add_file(*place, std::string(text.substr(0, text.size() / 2)), mode);
  if (auto begun = begin("go on"); !begun) return begun;
  tree_.add_file(*place, std::string(text), mode);
  return {};
}

Result<void> MemoryWriter::copy_file(const std::string& source, const std::string& path, unsigned mode) {
  const auto text = source_.text_of(source);
  if (!text) return std::unexpected(not_there(source));
  return add_file(path, *text, mode);
}

Result<void> MemoryWriter::replace_file(const std::string& path, std::string_view text, unsigned mode) {
  if (auto begun = begin("replace " + path); !begun) return begun;
  const auto place = tree_.resolve(path, true);
  if (!place || !tree_.nodes().contains(std::string(cdi::folder_of(*place)))) return std::unexpected(not_there(path));
  const auto node = tree_.nodes().find(*place);
  tree_.add_file(*place, std::string(text), node == tree_.nodes().end() ? mode : node->second.status.mode);
  return {};
}

Result<void> MemoryWriter::add_link(const std::string& path, const std::string& target) {
  if (auto begun = begin("link " + path); !begun) return begun;
  const auto place = new_place(path);
  if (!place) return std::unexpected(place.error());
  tree_.add_link(*place, target);
  return {};
}

Result<void> MemoryWriter::settle(const std::string& folder) {
  return begin("settle " + folder);
}

void MemoryWriter::move(const std::string& from, const std::string& to) {
  MemoryTree::Nodes moved;
  for (auto node = tree_.nodes().begin(); node != tree_.nodes().end();) {
    if (cdi::is_below(node->first, from)) {
      moved.emplace(to + node->first.substr(from.size()), std::move(node->second));
      node = tree_.nodes().erase(node);
    } else {
      ++node;
    }
  }
  tree_.nodes().merge(moved);
}

Result<void> MemoryWriter::rename(const std::string& from, const std::string& to) {
  if (auto begun = begin("rename " + to); !begun) return begun;
  const auto old_place = tree_.resolve(from, false);
  const auto place = new_place(to);
  if (!place) return std::unexpected(place.error());
  if (!old_place || !tree_.nodes().contains(*old_place)) return std::unexpected(not_there(from));
  move(*old_place, *place);
  return {};
}

Result<void> MemoryWriter::take_place(const std::string& from, const std::string& to) {
  if (auto begun = begin("take place " + to); !begun) return begun;
  const auto old_place = tree_.resolve(from, false);
  const auto place = tree_.resolve(to, false);
  if (!place || !old_place || !tree_.nodes().contains(*old_place)) return std::unexpected(not_there(from));
  const auto there = tree_.nodes().find(*place);
  const bool exchange = there != tree_.nodes().end() && there->second.status.kind == FileKind::folder;
  constexpr std::string_view kAside = "/exchanged";
  if (exchange) {
    move(*place, std::string(kAside));
  } else if (there != tree_.nodes().end()) {
    tree_.nodes().erase(there);
  }
  move(*old_place, *place);
  if (exchange) move(std::string(kAside), *old_place);
  return {};
}

Result<void> MemoryWriter::remove_all(const std::string& path) {
  const auto place = tree_.resolve(path, false);
  if (!place) return {};
  std::vector<std::string> below;
  for (const auto& [name, unused] : tree_.nodes()) {
    if (cdi::is_below(name, *place)) below.push_back(name);
  }
  // From the leaves up, as a real one has to.
  while (!below.empty()) {
    if (auto begun = begin("remove " + below.back()); !begun) return begun;
    tree_.nodes().erase(below.back());
    below.pop_back();
  }
  return {};
}

}  // namespace ctkit::test
