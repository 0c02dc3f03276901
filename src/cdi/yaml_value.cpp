#include "cdi/yaml_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <unordered_map>

#include "cdi/yaml_document.h"
#include "cdi/yaml_resolve.h"

namespace ctkit::cdi {

namespace {

// decode.go: how much of a document may come from aliases.
constexpr double kFewDecodes = 400'000;
constexpr double kManyDecodes = 4'000'000;
constexpr double kShareOfFew = 0.99;
constexpr double kShareOfMany = 0.10;

double allowed_alias_share(double decodes) {
  if (decodes <= kFewDecodes) return kShareOfFew;
  if (decodes >= kManyDecodes) return kShareOfMany;
  return kShareOfFew - (kShareOfFew - kShareOfMany) * (decodes - kFewDecodes) / (kManyDecodes - kFewDecodes);
}

/// Walks the nodes with a stack of its own: the depth of a document is bounded, but far beyond the
/// program's stack.
class Decoder {
 public:
  explicit Decoder(const YamlDocument& document) : document_(document) {}

  std::expected<YamlTree, YamlFailure> run() {
    tree_.values.emplace_back();
    if (document_.empty) return std::move(tree_);
    count();  // the document itself
    tasks_.push_back({.kind = TaskKind::visit, .node = document_.root, .out = 0});
    while (!tasks_.empty() && !failure_) {
      const Task task = tasks_.back();
      tasks_.pop_back();
      perform(task);
    }
    if (!failure_) failure_ = std::move(duplicate_);
    if (failure_) return std::unexpected(*std::move(failure_));
    return std::move(tree_);
  }

 private:
  enum class TaskKind { visit, merge_map, list, map, alias_end };
  struct Task {
    TaskKind kind = TaskKind::visit;
    std::uint32_t node = 0;
    std::uint32_t out = 0;
    std::size_t index = 0;
  };

  const YamlNode& node_at(std::uint32_t id) const { return document_.nodes[id]; }

  void fail(std::string message, int line) {
    if (!failure_) failure_ = YamlFailure{.message = std::move(message), .line = line};
  }

  void count() {
    ++decodes_;
    if (alias_depth_ > 0) ++from_aliases_;
    if (from_aliases_ > 100 && decodes_ > 1000 &&
        static_cast<double>(from_aliases_) / static_cast<double>(decodes_) >
            allowed_alias_share(static_cast<double>(decodes_))) {
      fail("document contains excessive aliasing", 0);
    }
  }

  std::uint32_t make_value() {
    tree_.values.emplace_back();
    return static_cast<std::uint32_t>(tree_.values.size() - 1);
  }

  void perform(const Task& task) {
    switch (task.kind) {
      case TaskKind::visit:
      case TaskKind::merge_map:
        return visit(task);
      case TaskKind::list:
        return next_item(task);
      case TaskKind::map:
        return next_entry(task);
      case TaskKind::alias_end:
        --alias_depth_;
        active_.erase(task.node);
        return;
    }
  }

  // False if the alias is inside its own anchor.
  bool enter_alias(std::uint32_t id) {
    if (!active_.insert(id).second) {
      fail("anchor '" + node_at(id).value + "' value contains itself", node_at(id).line);
      return false;
    }
    ++alias_depth_;
    return true;
  }

  void visit(const Task& task) {
    count();
    const YamlNode& node = node_at(task.node);
    switch (node.kind) {
      case YamlNodeKind::alias:
        if (!enter_alias(task.node)) return;
        tasks_.push_back({.kind = TaskKind::alias_end, .node = task.node});
        tasks_.push_back({.kind = task.kind, .node = node.target, .out = task.out});
        return;
      case YamlNodeKind::scalar:
        return decode_scalar(node, task.out);
      case YamlNodeKind::sequence:
        tree_.values[task.out] = {.kind = YamlKind::list, .line = node.line};
        tasks_.push_back({.kind = TaskKind::list, .node = task.node, .out = task.out});
        return;
      case YamlNodeKind::mapping:
        if (task.kind == TaskKind::visit) tree_.values[task.out] = {.kind = YamlKind::map, .line = node.line};
        tasks_.push_back({.kind = TaskKind::map, .node = task.node, .out = task.out});
        return;
    }
  }

  void decode_scalar(const YamlNode& node, std::uint32_t out) {
    auto value = resolve_yaml(node.tag, node.value, node.implicit);
    if (!value) return fail(value.error(), node.line);
    value->line = node.line;
    tree_.values[out] = *std::move(value);
  }

  void next_item(Task task) {
    const YamlNode& node = node_at(task.node);
    if (task.index == node.children.size()) return;
    const std::uint32_t item = make_value();
    tree_.values[task.out].items.push_back(item);
    const std::uint32_t child = node.children[task.index++];
    tasks_.push_back(task);
    tasks_.push_back({.kind = TaskKind::visit, .node = child, .out = item});
  }

  void next_entry(Task task) {
    const YamlNode& node = node_at(task.node);
    if (task.index == node.children.size()) return;
    const std::uint32_t key_node = node.children[task.index];
    const std::uint32_t value_node = node.children[task.index + 1];
    task.index += 2;
    tasks_.push_back(task);
    const YamlNode& key = node_at(key_node);
    if (key.kind == YamlNodeKind::scalar && key.value == "<<" &&
        (key.implicit || key.tag == "tag:yaml.org,2002:merge")) {
      return merge(value_node, task.out);
    }
    const auto key_value = decode_key(key_node);
    if (!key_value) return;
    const std::uint32_t value = make_value();
    add_entry(task.out, *key_value, value);
    tasks_.push_back({.kind = TaskKind::visit, .node = value_node, .out = value});
  }

  // Nothing after a failure.
  std::optional<std::uint32_t> decode_key(std::uint32_t id) {
    count();
    const YamlNode* node = &node_at(id);
    const bool alias = node->kind == YamlNodeKind::alias;
    if (alias) {
      if (!enter_alias(id)) return std::nullopt;
      count();
      node = &node_at(node->target);
    }
    if (node->kind != YamlNodeKind::scalar) {
      fail("invalid map key: a list or a map", node->line);
      return std::nullopt;
    }
    const std::uint32_t key = make_value();
    decode_scalar(*node, key);
    if (alias) {
      --alias_depth_;
      active_.erase(id);
    }
    if (failure_) return std::nullopt;
    return key;
  }

  void add_entry(std::uint32_t map, std::uint32_t key, std::uint32_t value) {
    const YamlValue& name = tree_.at(key);
    if (!keys_[map].insert(identity_of(name)).second) {
      if (!duplicate_) {
        duplicate_ = YamlFailure{.problem = YamlProblem::duplicate_key,
                                 .message = "key \"" + name.text + "\" already set in map",
                                 .line = name.line};
      }
      return;
    }
    tree_.values[map].entries.emplace_back(key, value);
  }

  // Go's == of interfaces: the type counts too.
  std::string identity_of(const YamlValue& key) {
    switch (key.kind) {
      case YamlKind::null:
        return "0";
      case YamlKind::boolean:
        return key.boolean ? "t" : "f";
      case YamlKind::integer:
        return "i" + std::to_string(key.integer);
      case YamlKind::unsigned_integer:
        return "u" + std::to_string(key.unsigned_integer);
      case YamlKind::floating:
        // NaN is unlike every other.
        return std::isnan(key.floating) ? "n" + std::to_string(++nans_)
                                        : "d" + std::to_string(key.floating + 0.0) + format_double(key.floating + 0.0);
      case YamlKind::text:
        return "s" + key.text;
      case YamlKind::list:
      case YamlKind::map:
        break;
    }
    return "";
  }

  void merge(std::uint32_t id, std::uint32_t map) {
    const auto is_map = [this](std::uint32_t one) {
      const YamlNode& node = node_at(one);
      return node.kind == YamlNodeKind::mapping ||
             (node.kind == YamlNodeKind::alias && node_at(node.target).kind == YamlNodeKind::mapping);
    };
    const YamlNode& node = node_at(id);
    if (is_map(id)) return tasks_.push_back({.kind = TaskKind::merge_map, .node = id, .out = map});
    if (node.kind != YamlNodeKind::sequence || !std::ranges::all_of(node.children, is_map)) {
      return fail("map merge requires map or sequence of maps as the value", node.line);
    }
    for (const std::uint32_t child : node.children) {
      tasks_.push_back({.kind = TaskKind::merge_map, .node = child, .out = map});
    }
  }

  const YamlDocument& document_;
  YamlTree tree_ = {};
  std::vector<Task> tasks_ = {};
  std::set<std::uint32_t> active_ = {};
  std::unordered_map<std::uint32_t, std::set<std::string>> keys_ = {};
  std::size_t decodes_ = 0;
  std::size_t from_aliases_ = 0;
  std::size_t alias_depth_ = 0;
  std::size_t nans_ = 0;
  std::optional<YamlFailure> failure_ = {};
  std::optional<YamlFailure> duplicate_ = {};
};

}  // namespace

std::expected<YamlTree, YamlFailure> read_yaml_value(std::string_view text) {
  const auto document = read_yaml(text);
  if (!document) {
    const engine::Error& error = document.error();
    int line = 0;
    std::from_chars(error.where.data(), error.where.data() + error.where.size(), line);
    return std::unexpected(YamlFailure{.message = error.message, .line = line});
  }
  return Decoder(*document).run();
}

}  // namespace ctkit::cdi
