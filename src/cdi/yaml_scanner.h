#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cdi/yaml_source.h"

namespace ctkit::cdi {

enum class YamlTokenKind {
  stream_start,
  stream_end,
  version_directive,
  tag_directive,
  document_start,
  document_end,
  block_sequence_start,
  block_mapping_start,
  block_end,
  flow_sequence_start,
  flow_sequence_end,
  flow_mapping_start,
  flow_mapping_end,
  block_entry,
  flow_entry,
  key,
  value,
  alias,
  anchor,
  tag,
  scalar,
};

struct YamlToken {
  YamlTokenKind kind = YamlTokenKind::stream_end;
  int line = 0;             ///< where it begins, from 1
  std::string value = {};   ///< scalar: its text; alias, anchor: the name; tag: handle; directive:
                            ///< "1.1", or the handle
  std::string suffix = {};  ///< tag: what follows the handle; tag directive: the prefix
  bool plain = false;       ///< scalar: written without quotes or block indicator
};

/// Blanks and line breaks between the words of a scalar: a single break becomes a blank, of more the first goes.
struct YamlFolding {
  bool broken = false;  ///< a line break was met
  std::string blanks = {};
  std::string first_break = {};
  std::string breaks = {};

  void join(std::string& text) {
    if (!broken) {
      text += blanks;
    } else if (first_break.starts_with('\n')) {
      text += breaks.empty() ? " " : breaks;
    } else {
      text += first_break + breaks;
    }
    *this = {};
  }
};

/// YAML text to tokens, as go-yaml v2 does it (scannerc.go, YAML 1.1 as libyaml reads it): with the
/// same look-ahead, so that an error behind the first document is found or not found as there.
class YamlScanner {
 public:
  explicit YamlScanner(std::string_view text) : source_(text) {}

  /// The next token; stream_end for ever after an error.
  const YamlToken& peek();
  void pop();

  /// What is wrong; empty if nothing so far.
  [[nodiscard]] const std::string& problem() const { return problem_.empty() ? source_.problem() : problem_; }
  [[nodiscard]] int problem_line() const { return problem_.empty() ? source_.line() : problem_line_; }

 private:
  struct SimpleKey {
    bool possible = false;
    bool required = false;
    std::size_t token = 0;
    int line = 0;
    int column = 0;
    std::size_t index = 0;
  };

  bool failed() const { return !problem().empty(); }
  void fail(std::string problem, int line);

  void fetch();
  void to_next_token();
  void add(YamlTokenKind kind, int line);
  void insert(std::size_t token, YamlTokenKind kind, int line);
  bool is_document_indicator(char32_t c);
  bool starts_plain_scalar();

  bool is_valid(SimpleKey& key);
  void save_simple_key();
  void remove_simple_key();
  void roll_indent(int column, YamlTokenKind kind, int line);
  void roll_indent_at(int column, std::size_t token, YamlTokenKind kind, int line);
  bool push_indent(int column);
  void unroll_indent(int column);
  void end_line_state();

  void fetch_stream_end();
  void fetch_directive();
  void fetch_document_indicator(YamlTokenKind kind);
  void fetch_flow_start(YamlTokenKind kind);
  void fetch_flow_end(YamlTokenKind kind);
  void fetch_flow_entry();
  void fetch_block_entry();
  void fetch_key();
  void fetch_value();
  void fetch_anchor(YamlTokenKind kind);
  void fetch_tag();

  std::string scan_tag_handle(bool directive, int line);
  std::string scan_tag_uri(std::string_view head, int line);
  bool scan_escaped_octets(std::string& text, int line);
  std::string scan_version(int line);
  void scan_directive_end(int line);
  void scan_block_scalar(bool literal);
  int scan_block_breaks(int indent, std::string& breaks, int line);
  void scan_quoted_scalar(bool single);
  bool scan_escape(std::string& text, int line);
  void scan_plain_scalar();
  void read(std::string& text);
  void read_line(std::string& text);
  void read_space(YamlFolding& folding);

  YamlSource source_;
  std::deque<YamlToken> tokens_ = {};
  std::size_t tokens_parsed_ = 0;
  bool started_ = false;
  bool ended_ = false;
  bool simple_key_allowed_ = false;
  int indent_ = -1;
  std::vector<int> indents_ = {};
  int flow_level_ = 0;
  std::vector<SimpleKey> simple_keys_ = {};
  std::unordered_map<std::size_t, std::size_t> simple_key_of_token_ = {};
  std::string problem_ = {};
  int problem_line_ = 0;
  YamlToken end_ = {};
};

}  // namespace ctkit::cdi
