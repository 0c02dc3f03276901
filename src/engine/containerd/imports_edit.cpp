#include "engine/containerd/imports_edit.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "engine/containerd/foreign_root.h"
#include "engine/containerd/root_imports.h"
#include "engine/containerd/string_literal.h"
#include "engine/text_lines.h"
#include "engine/toml_scanner.h"
#include "engine/toml_text.h"

// Rules. Each way of adding leaves something by which removing tells it from the others; so both
// list the same forms.
//  1. The new element goes last, as later imports win. Its quotes are those of the element before
//     it.
//  2. Where the element before it starts a line, the new one gets its own line after that one and
//     its comment, with the same indentation and newline; if `]` follows on the same line, a new
//     line just before what is there.
//  3. Elsewhere it follows on the same line, as far behind its comma as the element before it.
//  4. A comma follows it if one follows the element before it; else that one gets a comma.
//  5. In an empty array it stands between the brackets, with the space there is on both sides; if
//     the brackets are on different lines, it has the last line before `]`.
//  6. Without an `imports`: a line after `version`, else before the first statement, else at the
//     end.
//  7. Somebody's comments are never taken; where one is in the way, our element goes and the
//     layout stays.
namespace ctkit::engine::containerd {
namespace {

constexpr std::string_view kBlanks = " \t";

struct Edit {
  Span cut = {};
  std::string put = {};
};

Edit insertion(std::size_t at, std::string put) {
  return {.cut = {.begin = at, .end = at}, .put = std::move(put)};
}

Edit deletion(std::size_t begin, std::size_t end) {
  return {.cut = {.begin = begin, .end = end}};
}

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, [](const Edit& edit) { return edit.cut.begin; });
  std::string result;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    result += text.substr(at, edit.cut.begin - at);
    result += edit.put;
    at = edit.cut.end;
  }
  return result += text.substr(at);
}

std::string_view slice(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

bool blank(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

/// The end of the blanks at `at`.
std::size_t skip_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

/// Whether the line has nothing before `at`.
bool starts_line(std::string_view text, std::size_t at) {
  return blank(slice(text, line_begin(text, at), at));
}

/// Where the line ends if there is nothing but blanks from `at` on: the position behind its
/// newline.
std::optional<std::size_t> end_of_blank_line(std::string_view text, std::size_t at) {
  at = skip_blanks(text, at);
  if (text.substr(at).starts_with("\r\n")) return at + 2;
  if (text.substr(at).starts_with("\n")) return at + 1;
  return std::nullopt;
}

/// The comma behind an element; there is one.
std::size_t find_comma(std::string_view text, std::size_t element_end) {
  std::size_t at = element_end;
  while (at < text.size() && text[at] != ',') {
    at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
  }
  return at;
}

Error bug(std::string_view file, std::string_view what) {
  return {.code = ErrorCode::failed,
          .message = "bug: the edit of 'imports' " + std::string(what),
          .where = std::string(file),
          .hint = "nothing was written; please report it with the file"};
}

/// The result, if it differs from the text in nothing but the elements, which are to be as
/// expected.
Result<std::string> checked(std::string_view text,
                            const Root& root,
                            std::string result,
                            const Elements& expected,
                            std::string_view file,
                            const TomlDialect& dialect) {
  const auto after = scan_root(result, file, dialect);
  if (!after) return std::unexpected(bug(file, "broke it (" + after.error().message + ")"));
  if (elements_of(result, *after) != expected) return std::unexpected(bug(file, "has another effect"));
  if (other_statements(result, *after) != other_statements(text, root)) {
    return std::unexpected(bug(file, "changed another statement"));
  }
  return result;
}

std::vector<Edit> add_first_element(std::string_view text, const Imports& imports, const std::string& element) {
  const std::size_t begin = imports.statement.value.begin + 1;
  const std::size_t end = imports.layout.closing_bracket;
  const std::string_view between = slice(text, begin, end);
  if (between.empty()) return {insertion(begin, element)};
  if (!between.contains('\n')) {
    return {insertion(begin + 1, element + between.front())};
  }
  const std::size_t line = line_begin(text, end);
  return {insertion(
      line, std::string(slice(text, line, end)) + "  " + element + std::string(newline_ending(text, line - 1)))};
}

/// What stands between the last element and the comma before it, for one more on the same line.
std::string_view separator(std::string_view text, const std::vector<Span>& elements) {
  if (elements.size() < 2) return " ";
  const std::size_t comma = find_comma(text, elements[elements.size() - 2].end);
  const std::string_view gap = slice(text, comma + 1, elements.back().begin);
  return blank(gap) ? gap : " ";
}

std::vector<Edit> add_last_element(std::string_view text, const Imports& imports, const std::string& element) {
  const Span last = imports.layout.elements.back();
  const bool comma_follows = imports.layout.trailing_comma;
  const std::size_t settled = comma_follows ? find_comma(text, last.end) + 1 : last.end;
  const std::string before = comma_follows ? "" : ",";
  const std::string behind = comma_follows ? "," : "";

  if (!starts_line(text, last.begin)) {
    const std::string gap(separator(text, imports.layout.elements));
    return {insertion(settled, before + gap + element + behind)};
  }
  const std::size_t own_line = line_begin(text, last.begin);
  const std::string indentation(slice(text, own_line, last.begin));
  const std::size_t newline = text.find('\n', settled);
  if (newline < imports.layout.closing_bracket) {
    const std::string ending(newline_ending(text, newline));
    return {insertion(last.end, before), insertion(newline + 1, indentation + element + behind + ending)};
  }
  const std::string ending(newline_ending(text, own_line - 1));
  return {insertion(settled, before + ending + indentation + element + behind)};
}

/// A line at the end of a text; behind an unfinished line, ours becomes the unfinished one.
Edit add_line_at_end(std::string_view text, const std::string& line) {
  const std::size_t end = text.size();
  const std::string_view body = text.substr(line_begin(text, end));
  if (body.empty()) return insertion(end, line + std::string(newline_of(text)));
  // A stray "\r" there must not become half of our newline, or removing would take it along.
  const std::string_view newline = text.ends_with('\r') ? "\r\n" : newline_of(text);
  return insertion(end, std::string(newline) + line);
}

Edit add_imports_line(std::string_view text, const Root& root, const std::string& line) {
  if (root.statements.empty()) return add_line_at_end(text, line);
  std::size_t at = line_begin(text, root.statements.front().key_span.begin);
  for (const Statement& statement : root.statements) {
    if (statement.kind != Statement::Kind::key_value) break;
    if (statement.key != std::vector<std::string>{"version"}) continue;
    const std::size_t newline = text.find('\n', statement.value.end);
    if (newline == std::string_view::npos) return add_line_at_end(text, line);
    at = newline + 1;
    break;
  }
  return insertion(at, line + std::string(newline_of(text)));
}

/// The whole line of an `imports` with one element, if nobody wrote a comment into it.
std::optional<Span> own_imports_line(std::string_view text, const Imports& imports) {
  const Span element = imports.layout.elements.front();
  const Span value = imports.statement.value;
  if (!starts_line(text, imports.statement.key_span.begin)) return std::nullopt;
  if (slice(text, value.begin, element.begin).contains('#')) return std::nullopt;
  if (slice(text, element.end, value.end).contains('#')) return std::nullopt;

  const std::size_t begin = line_begin(text, imports.statement.key_span.begin);
  if (const auto end = end_of_blank_line(text, value.end)) return Span{.begin = begin, .end = *end};
  if (skip_blanks(text, value.end) != text.size()) return std::nullopt;
  if (begin == 0 || text[begin - 1] != '\n') return Span{.begin = begin, .end = text.size()};
  return Span{.begin = begin - newline_ending(text, begin - 1).size(), .end = text.size()};
}

/// The cuts that take the element at `index` and what belongs to it out of the array.
std::vector<Edit> cut_element(std::string_view text, const Imports& imports, std::size_t index) {
  const std::vector<Span>& elements = imports.layout.elements;
  const Span element = elements[index];
  const bool is_first = index == 0;
  const bool is_last = index + 1 == elements.size();
  const bool comma_follows = !is_last || imports.layout.trailing_comma;
  const bool own_line = starts_line(text, element.begin);

  std::size_t end = element.end;
  std::vector<Edit> cuts;
  if (comma_follows) {
    const std::size_t comma = find_comma(text, element.end);
    if (!blank(slice(text, element.end, comma))) {
      return {deletion(element.begin, element.end), deletion(comma, comma + 1)};
    }
    end = comma + 1;
  }

  std::size_t previous_end = imports.statement.value.begin + 1;  // behind the bracket, or the comma
  if (!is_first) previous_end = find_comma(text, elements[index - 1].end) + 1;
  const bool takes_previous_comma = !is_first && !comma_follows;
  if (takes_previous_comma) cuts.push_back(deletion(previous_end - 1, previous_end));

  const std::string_view gap = slice(text, previous_end, element.begin);
  const auto line_end = end_of_blank_line(text, end);
  if (own_line && line_end) {
    cuts.push_back(deletion(line_begin(text, element.begin), *line_end));
    return cuts;
  }
  const auto gap_line_end = end_of_blank_line(text, previous_end);
  const bool gap_is_newline = own_line && gap_line_end == line_begin(text, element.begin);
  if (is_last && !is_first && (blank(gap) || (gap_is_newline && text[skip_blanks(text, end)] == ']'))) {
    cuts.push_back(deletion(previous_end, end));
  } else if (line_end) {
    const std::size_t kept = text.substr(0, element.begin).find_last_not_of(kBlanks) + 1;
    cuts.push_back(deletion(kept, end));
  } else if (is_last && is_first && !comma_follows) {
    // `[ "x" ]` as rule 5 makes it of `[ ]`.
    const bool spaced = gap.size() == 1 && text[end] == gap.front();
    cuts.push_back(deletion(element.begin, spaced ? end + 1 : end));
  } else {
    cuts.push_back(deletion(element.begin, skip_blanks(text, end)));
  }
  return cuts;
}

/// No string of TOML names a file whose name isn't UTF-8.
Result<void> check_pattern(std::string_view pattern, std::string_view file) {
  std::string as_read;
  append_valid_utf8(as_read, pattern);
  if (as_read != pattern) {
    return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                 .message = "no config can import '" + as_read + "': the name is not UTF-8",
                                 .where = std::string(file),
                                 .hint = "name another folder with --drop-in"});
  }
  return {};
}

}  // namespace

Result<std::string> add_import(std::string_view text,
                               std::string_view file,
                               std::string_view pattern,
                               const TomlDialect& dialect) {
  if (is_template(text)) {
    return std::unexpected(Error{.code = ErrorCode::needs_decision,
                                 .message = "this is a template, not a config",
                                 .where = std::string(file),
                                 .hint = drop_in_hint("", file)});
  }
  if (auto fits = check_pattern(pattern, file); !fits) return std::unexpected(fits.error());
  const auto root = scan_root(text, file, dialect);
  if (!root) return std::unexpected(root.error());
  const std::optional<Imports>& imports = root->imports;

  auto expected = elements_of(text, *root).value_or(std::vector<std::string>{});
  const std::string element = make_literal(pattern, expected.empty() ? '"' : expected.back()[0]);
  std::vector<Edit> edits;
  if (!imports) {
    edits.push_back(add_imports_line(text, *root, "imports = [" + element + "]"));
  } else if (expected.empty()) {
    edits = add_first_element(text, *imports, element);
  } else {
    edits = add_last_element(text, *imports, element);
  }
  expected.push_back(element);
  return checked(text, *root, edited(text, std::move(edits)), expected, file, dialect);
}

Result<std::string> remove_import(std::string_view text,
                                  std::string_view file,
                                  std::string_view pattern,
                                  const TomlDialect& dialect,
                                  bool line_was_ours) {
  if (auto fits = check_pattern(pattern, file); !fits) return std::unexpected(fits.error());
  const auto root = scan_root(text, file, dialect);
  if (!root) return std::unexpected(root.error());
  const std::optional<Imports>& imports = root->imports;

  auto expected = elements_of(text, *root).value_or(std::vector<std::string>{});
  std::optional<std::size_t> index;
  for (std::size_t at = 0; at < expected.size(); ++at) {
    if (parse_literal(expected[at]) == pattern) index = at;
  }
  if (!imports || !index) {
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .message = "'imports' has no element '" + std::string(pattern) + "'",
                                 .where = std::string(file)});
  }
  if (line_was_ours && expected.size() == 1) {
    if (const auto line = own_imports_line(text, *imports)) {
      return checked(text, *root, edited(text, {{.cut = *line}}), std::nullopt, file, dialect);
    }
  }
  expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(*index));
  return checked(text, *root, edited(text, cut_element(text, *imports, *index)), expected, file, dialect);
}

std::string new_root(int version, std::string_view pattern) {
  return "version = " + std::to_string(version) + "\nimports = [" + make_literal(pattern, '"') + "]\n";
}

}  // namespace ctkit::engine::containerd
