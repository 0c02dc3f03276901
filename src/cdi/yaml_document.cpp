#include "cdi/yaml_document.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <utility>

#include "cdi/yaml_scanner.h"

namespace ctkit::cdi {

using engine::Error;
using engine::Result;

namespace {

enum class State {
  document_content,
  document_end,
  block_node,
  block_sequence_first_entry,
  block_sequence_entry,
  indentless_sequence_entry,
  block_mapping_first_key,
  block_mapping_key,
  block_mapping_value,
  flow_sequence_first_entry,
  flow_sequence_entry,
  flow_sequence_pair_key,
  flow_sequence_pair_value,
  flow_sequence_pair_end,
  flow_mapping_first_key,
  flow_mapping_key,
  flow_mapping_value,
  flow_mapping_empty_value,
};

/// The grammar as a machine with a stack of states, and the nodes it makes.
class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text) {}

  Result<YamlDocument> run() {
    scanner_.pop();  // stream start
    start_document();
    while (!failed() && !done_)
      step();
    if (failed()) {
      return std::unexpected(
          Error{.message = scanner_.problem().empty() ? problem_ : scanner_.problem(),
                .where = std::to_string(scanner_.problem().empty() ? line_ : scanner_.problem_line())});
    }
    return std::move(document_);
  }

 private:
  using Kind = YamlTokenKind;

  bool failed() const { return !problem_.empty() || !scanner_.problem().empty(); }

  void fail(std::string problem) {
    line_ = scanner_.peek().line;
    if (!failed()) problem_ = std::move(problem);
  }

  Kind look() { return scanner_.peek().kind; }

  bool look_is(std::initializer_list<Kind> kinds) {
    const Kind kind = look();
    for (const Kind one : kinds) {
      if (kind == one) return true;
    }
    return false;
  }

  void start_document() {
    tag_prefixes_ = {{"!", "!"}, {"!!", "tag:yaml.org,2002:"}};
    if (look() == Kind::stream_end) {
      done_ = true;
      return;
    }
    document_.empty = false;
    states_.push_back(State::document_end);
    if (!look_is({Kind::version_directive, Kind::tag_directive, Kind::document_start})) {
      state_ = State::block_node;
      return;
    }
    read_directives();
    if (look() != Kind::document_start) return fail("did not find expected <document start>");
    scanner_.pop();
    state_ = State::document_content;
  }

  void read_directives() {
    bool version_seen = false;
    std::map<std::string, std::string> own;
    while (!failed() && look_is({Kind::version_directive, Kind::tag_directive})) {
      const YamlToken token = scanner_.peek();
      if (token.kind == Kind::version_directive) {
        if (version_seen) return fail("found duplicate %YAML directive");
        if (token.value != "1.1") return fail("found incompatible YAML document");
        version_seen = true;
      } else if (!own.emplace(token.value, token.suffix).second) {
        return fail("found duplicate %TAG directive");
      }
      scanner_.pop();
    }
    for (auto& [handle, prefix] : own)
      tag_prefixes_[handle] = prefix;
  }

  void step() {
    switch (state_) {
      case State::document_content:
        if (look_is({Kind::version_directive,
                     Kind::tag_directive,
                     Kind::document_start,
                     Kind::document_end,
                     Kind::stream_end})) {
          return add_empty(pop_state());
        }
        return parse_node(true, false);
      case State::document_end:
        // Looked at, not read further: what follows is another document's.
        look();
        done_ = true;
        return;
      case State::block_node:
        return parse_node(true, false);
      case State::block_sequence_first_entry:
        scanner_.pop();
        [[fallthrough]];
      case State::block_sequence_entry:
        return block_sequence_entry();
      case State::indentless_sequence_entry:
        return indentless_sequence_entry();
      case State::block_mapping_first_key:
        scanner_.pop();
        [[fallthrough]];
      case State::block_mapping_key:
        return block_mapping_key();
      case State::block_mapping_value:
        return block_mapping_value();
      case State::flow_sequence_first_entry:
        scanner_.pop();
        return flow_sequence_entry(true);
      case State::flow_sequence_entry:
        return flow_sequence_entry(false);
      case State::flow_sequence_pair_key:
        if (!look_is({Kind::value, Kind::flow_entry, Kind::flow_sequence_end})) {
          return node_then(State::flow_sequence_pair_value, false, false);
        }
        scanner_.pop();  // libyaml drops this token
        return add_empty(State::flow_sequence_pair_value);
      case State::flow_sequence_pair_value:
        if (look() == Kind::value) {
          scanner_.pop();
          if (!look_is({Kind::flow_entry, Kind::flow_sequence_end})) {
            return node_then(State::flow_sequence_pair_end, false, false);
          }
        }
        return add_empty(State::flow_sequence_pair_end);
      case State::flow_sequence_pair_end:
        close_collection(State::flow_sequence_entry);
        return;
      case State::flow_mapping_first_key:
        scanner_.pop();
        return flow_mapping_key(true);
      case State::flow_mapping_key:
        return flow_mapping_key(false);
      case State::flow_mapping_value:
        if (look() == Kind::value) {
          scanner_.pop();
          if (!look_is({Kind::flow_entry, Kind::flow_mapping_end})) {
            return node_then(State::flow_mapping_key, false, false);
          }
        }
        return add_empty(State::flow_mapping_key);
      case State::flow_mapping_empty_value:
        return add_empty(State::flow_mapping_key);
    }
  }

  State pop_state() {
    const State state = states_.back();
    states_.pop_back();
    return state;
  }

  void node_then(State next, bool block, bool indentless) {
    states_.push_back(next);
    parse_node(block, indentless);
  }

  std::uint32_t add(YamlNode node) {
    const auto id = static_cast<std::uint32_t>(document_.nodes.size());
    document_.nodes.push_back(std::move(node));
    if (open_.empty()) {
      document_.root = id;
    } else {
      document_.nodes[open_.back()].children.push_back(id);
    }
    return id;
  }

  void add_empty(State next) {
    add({.line = scanner_.peek().line, .implicit = true});
    state_ = next;
  }

  void close_collection(State next) {
    open_.pop_back();
    state_ = next;
  }

  void parse_node(bool block, bool indentless) {
    if (look() == Kind::alias) return add_alias();
    std::optional<std::string> anchor;
    std::optional<std::pair<std::string, std::string>> tag_words;
    const int line = scanner_.peek().line;
    for (int part = 0; part < 2; ++part) {
      if (look() == Kind::anchor && !anchor) {
        anchor = scanner_.peek().value;
        scanner_.pop();
      } else if (look() == Kind::tag && !tag_words) {
        tag_words.emplace(scanner_.peek().value, scanner_.peek().suffix);
        scanner_.pop();
      }
    }
    std::string tag;
    if (tag_words) {
      tag = tag_words->second;
      if (!tag_words->first.empty()) {
        const auto prefix = tag_prefixes_.find(tag_words->first);
        if (prefix == tag_prefixes_.end()) return fail("found undefined tag handle");
        tag = prefix->second + tag;
      }
    }
    const Kind kind = look();
    if (failed()) return;
    std::optional<State> opened;
    YamlNode node{.line = line};
    if (indentless && kind == Kind::block_entry) {
      opened = State::indentless_sequence_entry;
      node.kind = YamlNodeKind::sequence;
    } else if (kind == Kind::scalar) {
      const YamlToken& token = scanner_.peek();
      node.value = token.value;
      node.implicit = (tag.empty() && token.plain) || tag == "!";
      node.tag = node.implicit ? "" : tag;
    } else if (kind == Kind::flow_sequence_start) {
      opened = State::flow_sequence_first_entry;
      node.kind = YamlNodeKind::sequence;
    } else if (kind == Kind::flow_mapping_start) {
      opened = State::flow_mapping_first_key;
      node.kind = YamlNodeKind::mapping;
    } else if (block && kind == Kind::block_sequence_start) {
      opened = State::block_sequence_first_entry;
      node.kind = YamlNodeKind::sequence;
    } else if (block && kind == Kind::block_mapping_start) {
      opened = State::block_mapping_first_key;
      node.kind = YamlNodeKind::mapping;
    } else if (anchor || tag_words) {
      node.tag = tag;
      node.implicit = tag.empty();
    } else {
      return fail("did not find expected node content");
    }
    const std::uint32_t id = add(std::move(node));
    if (anchor) anchors_[*anchor] = id;
    if (opened) {
      open_.push_back(id);
      state_ = *opened;
      return;
    }
    if (kind == Kind::scalar) scanner_.pop();
    state_ = pop_state();
  }

  void add_alias() {
    const YamlToken token = scanner_.peek();
    const auto target = anchors_.find(token.value);
    if (target == anchors_.end()) return fail("unknown anchor '" + token.value + "' referenced");
    add({.kind = YamlNodeKind::alias, .line = token.line, .value = token.value, .target = target->second});
    scanner_.pop();
    state_ = pop_state();
  }

  void block_sequence_entry() {
    if (look() == Kind::block_entry) {
      scanner_.pop();
      if (!look_is({Kind::block_entry, Kind::block_end})) return node_then(State::block_sequence_entry, true, false);
      return add_empty(State::block_sequence_entry);
    }
    if (look() != Kind::block_end) return fail("did not find expected '-' indicator");
    scanner_.pop();
    close_collection(pop_state());
  }

  void indentless_sequence_entry() {
    if (look() != Kind::block_entry) return close_collection(pop_state());
    scanner_.pop();
    if (!look_is({Kind::block_entry, Kind::key, Kind::value, Kind::block_end})) {
      return node_then(State::indentless_sequence_entry, true, false);
    }
    add_empty(State::indentless_sequence_entry);
  }

  void block_mapping_key() {
    if (look() == Kind::key) {
      scanner_.pop();
      if (!look_is({Kind::key, Kind::value, Kind::block_end})) return node_then(State::block_mapping_value, true, true);
      return add_empty(State::block_mapping_value);
    }
    if (look() != Kind::block_end) return fail("did not find expected key");
    scanner_.pop();
    close_collection(pop_state());
  }

  void block_mapping_value() {
    if (look() == Kind::value) {
      scanner_.pop();
      if (!look_is({Kind::key, Kind::value, Kind::block_end})) return node_then(State::block_mapping_key, true, true);
    }
    add_empty(State::block_mapping_key);
  }

  void flow_sequence_entry(bool first) {
    if (look() != Kind::flow_sequence_end) {
      if (!first) {
        if (look() != Kind::flow_entry) return fail("did not find expected ',' or ']'");
        scanner_.pop();
      }
      if (look() == Kind::key) {
        const int line = scanner_.peek().line;
        scanner_.pop();
        open_.push_back(add({.kind = YamlNodeKind::mapping, .line = line}));
        state_ = State::flow_sequence_pair_key;
        return;
      }
      if (look() != Kind::flow_sequence_end) return node_then(State::flow_sequence_entry, false, false);
    }
    scanner_.pop();
    close_collection(pop_state());
  }

  void flow_mapping_key(bool first) {
    if (look() != Kind::flow_mapping_end) {
      if (!first) {
        if (look() != Kind::flow_entry) return fail("did not find expected ',' or '}'");
        scanner_.pop();
      }
      if (look() == Kind::key) {
        scanner_.pop();
        if (!look_is({Kind::value, Kind::flow_entry, Kind::flow_mapping_end})) {
          return node_then(State::flow_mapping_value, false, false);
        }
        return add_empty(State::flow_mapping_value);
      }
      if (look() != Kind::flow_mapping_end) return node_then(State::flow_mapping_empty_value, false, false);
    }
    scanner_.pop();
    close_collection(pop_state());
  }

  YamlScanner scanner_;
  YamlDocument document_ = {};
  State state_ = State::document_end;
  std::vector<State> states_ = {};
  std::vector<std::uint32_t> open_ = {};
  std::map<std::string, std::string, std::less<>> tag_prefixes_ = {};
  std::map<std::string, std::uint32_t, std::less<>> anchors_ = {};
  std::string problem_ = {};
  int line_ = 0;
  bool done_ = false;
};

}  // namespace

Result<YamlDocument> read_yaml(std::string_view text) {
  return Parser(text).run();
}

}  // namespace ctkit::cdi
