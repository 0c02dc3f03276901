#include "engine/unified_diff.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

//  1. Lines carry their newline, so a last line without one differs from the same line with one.
//  2. Common lines at both ends are set aside, the rest goes through Myers' greedy algorithm (An
//     O(ND) Difference Algorithm and Its Variations, 1986): the furthest old line reached on each
//     diagonal, for each number of changes.
//  3. It keeps all those rows to walk back: memory grows with the square of the changes. Past
//     kMostChanges the rest is replaced whole.
//  4. Stretches that differ join one hunk if no more than twice the context lies between them.
namespace ctkit::engine {
namespace {

constexpr std::ptrdiff_t kMostChanges = 2'000;

using Lines = std::vector<std::string_view>;
using Index = std::ptrdiff_t;

/// Old lines [old_begin, old_end) become new lines [new_begin, new_end).
struct Replacement {
  Index old_begin = 0;
  Index old_end = 0;
  Index new_begin = 0;
  Index new_end = 0;
};

Lines split_lines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    const std::size_t size = newline == std::string_view::npos ? text.size() : newline + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

Index size_of(const Lines& lines) {
  return static_cast<Index>(lines.size());
}

std::string_view at(const Lines& lines, Index index) {
  return lines[static_cast<std::size_t>(index)];
}

/// One row of rule 2: for the diagonals -changes to +changes, every second one (diagonal = old line
/// - new line).
class Row {
 public:
  explicit Row(Index changes) : changes_(changes), reached_(static_cast<std::size_t>(changes + 1), -1) {}

  [[nodiscard]] Index reached(Index diagonal) const {
    return diagonal < -changes_ || diagonal > changes_ ? -1 : reached_[position(diagonal)];
  }
  void set(Index diagonal, Index old_line) { reached_[position(diagonal)] = old_line; }

 private:
  [[nodiscard]] std::size_t position(Index diagonal) const {
    return static_cast<std::size_t>((diagonal + changes_) / 2);
  }

  Index changes_ = 0;
  std::vector<Index> reached_ = {};
};

/// Whether the best way to the diagonal comes from the one above by a new line, not from the one
/// below by leaving out an old line. -1 is "not there": leaving the text on either side is never
/// the best.
bool comes_by_new_line(const Row& row, Index diagonal) {
  return row.reached(diagonal + 1) > row.reached(diagonal - 1);
}

/// Walks back from the end: the replacements of single lines, in order.
std::vector<Replacement> walk_back(const std::vector<Row>& rows, Index old_line, Index new_line) {
  std::vector<Replacement> steps;
  for (std::size_t changes = rows.size() - 1; changes > 0; --changes) {
    const Row& row = rows[changes - 1];
    const Index diagonal = old_line - new_line;
    const bool by_new_line = comes_by_new_line(row, diagonal);
    const Index from = by_new_line ? diagonal + 1 : diagonal - 1;
    old_line = row.reached(from);
    new_line = old_line - from;
    steps.push_back({.old_begin = old_line,
                     .old_end = old_line + (by_new_line ? 0 : 1),
                     .new_begin = new_line,
                     .new_end = new_line + (by_new_line ? 1 : 0)});
  }
  std::ranges::reverse(steps);
  return steps;
}

/// The single-line changes between the stretches, which are given as one replacement.
std::vector<Replacement> find_steps(const Lines& before, const Lines& after, const Replacement& all) {
  const Index old_size = all.old_end - all.old_begin;
  const Index new_size = all.new_end - all.new_begin;
  std::vector<Row> rows;
  for (Index changes = 0; changes <= std::min(old_size + new_size, kMostChanges); ++changes) {
    Row row(changes);
    for (Index diagonal = -changes; diagonal <= changes; diagonal += 2) {
      Index old_line = 0;
      if (changes > 0) {
        const bool by_new_line = comes_by_new_line(rows.back(), diagonal);
        old_line = by_new_line ? rows.back().reached(diagonal + 1) : rows.back().reached(diagonal - 1) + 1;
      }
      while (old_line < old_size && old_line - diagonal < new_size &&
             at(before, all.old_begin + old_line) == at(after, all.new_begin + old_line - diagonal)) {
        ++old_line;
      }
      row.set(diagonal, old_line);
      if (old_line >= old_size && old_line - diagonal >= new_size) {
        rows.push_back(std::move(row));
        return walk_back(rows, old_size, new_size);
      }
    }
    rows.push_back(std::move(row));
  }
  return {{.old_begin = 0, .old_end = old_size, .new_begin = 0, .new_end = new_size}};
}

/// What has to be replaced, in order; common lines lie between any two.
std::vector<Replacement> find_replacements(const Lines& before, const Lines& after) {
  const Index shorter = std::min(size_of(before), size_of(after));
  Index head = 0;
  while (head < shorter && at(before, head) == at(after, head))
    ++head;
  Index tail = 0;
  while (tail < shorter - head && at(before, size_of(before) - tail - 1) == at(after, size_of(after) - tail - 1)) {
    ++tail;
  }
  const Replacement all{
      .old_begin = head, .old_end = size_of(before) - tail, .new_begin = head, .new_end = size_of(after) - tail};

  std::vector<Replacement> replacements;
  for (Replacement step : find_steps(before, after, all)) {
    step.old_begin += head;
    step.old_end += head;
    step.new_begin += head;
    step.new_end += head;
    const bool adjoins = !replacements.empty() && replacements.back().old_end == step.old_begin &&
                         replacements.back().new_end == step.new_begin;
    if (adjoins) {
      replacements.back().old_end = step.old_end;
      replacements.back().new_end = step.new_end;
    } else if (step.old_begin != step.old_end || step.new_begin != step.new_end) {
      replacements.push_back(step);
    }
  }
  return replacements;
}

std::string line_range(Index begin, Index end) {
  // Of no lines, the header names the line before.
  const std::string first = std::to_string(begin == end ? begin : begin + 1);
  return end - begin == 1 ? first : first + "," + std::to_string(end - begin);
}

void render_lines(const Lines& lines, Index begin, Index end, char mark, std::string& output) {
  for (Index index = begin; index < end; ++index) {
    output += mark;
    output += at(lines, index);
    if (!at(lines, index).ends_with('\n')) output += "\n\\ No newline at end of file\n";
  }
}

}  // namespace

std::string unified_diff(std::string_view before,
                         std::string_view after,
                         std::string_view before_name,
                         std::string_view after_name,
                         int context) {
  const Lines old_lines = split_lines(before);
  const Lines new_lines = split_lines(after);
  const std::vector<Replacement> replacements = find_replacements(old_lines, new_lines);
  if (replacements.empty()) return {};

  std::string output = "--- " + std::string(before_name) + "\n+++ " + std::string(after_name) + "\n";
  for (auto first = replacements.begin(); first != replacements.end();) {
    auto end = std::next(first);
    while (end != replacements.end() && end->old_begin - std::prev(end)->old_end <= 2 * Index{context})
      ++end;
    const Replacement& last = *std::prev(end);

    const Index lead = std::min<Index>(context, first->old_begin);
    const Index trail = std::min<Index>(context, size_of(old_lines) - last.old_end);
    output += "@@ -" + line_range(first->old_begin - lead, last.old_end + trail) + " +" +
              line_range(first->new_begin - lead, last.new_end + trail) + " @@\n";
    Index shown = first->old_begin - lead;
    for (; first != end; ++first) {
      render_lines(old_lines, shown, first->old_begin, ' ', output);
      render_lines(old_lines, first->old_begin, first->old_end, '-', output);
      render_lines(new_lines, first->new_begin, first->new_end, '+', output);
      shown = first->old_end;
    }
    render_lines(old_lines, shown, last.old_end + trail, ' ', output);
  }
  return output;
}

}  // namespace ctkit::engine
