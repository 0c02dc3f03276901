#include "engine/crio/known_release.h"

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace ctkit::engine::crio {

namespace {

/// From this release on, the regime holds.
struct Row {
  Release since;
  Regime regime;
};

// Libraries by go.mod of the tags; the rest by what the binaries did (docs/crio-config.md).
const std::array<Row, 6>& rows() {
  static const std::array<Row, 6> kRows = {{
      {{.major = 1, .minor = 24}, {.dialect = &kBurntSushi11, .drops_runc = true, .slices_for_cgroupfs = true}},
      {{.major = 1, .minor = 25, .patch = 1}, {.dialect = &kBurntSushi11, .slices_for_cgroupfs = true}},
      {{.major = 1, .minor = 28}, {.dialect = &kBurntSushi13, .slices_for_cgroupfs = true}},
      {{.major = 1, .minor = 33}, {.dialect = &kBurntSushi13}},
      {{.major = 1, .minor = 35, .patch = 1}, {.dialect = &kBurntSushi16}},
      {{.major = 1, .minor = 36}, {.dialect = &kBurntSushi16}},
  }};
  return kRows;
}

/// A pre-release counts as the release it leads to.
bool is_before(const Release& left, const Release& right) {
  return std::tuple(left.major, left.minor, left.patch) < std::tuple(right.major, right.minor, right.patch);
}

Release recorded_release(std::size_t index) {
  const auto release = Release::parse(recorded_releases()[index]);
  return release ? *release : Release{};
}

bool same_line(const Release& left, const Release& right) {
  return left.major == right.major && left.minor == right.minor;
}

}  // namespace

Result<Known> find_release(const Release& release) {
  const Release oldest{.major = 1, .minor = 24};
  if (is_before(release, oldest)) {
    return std::unexpected(Error{.code = ErrorCode::unknown_release,
                                 .message = "CRI-O " + release.to_string() + " is older than any release we know",
                                 .hint = "1.24 and later are known"});
  }
  Known known{.release = release};
  for (const Row& row : rows()) {
    if (!is_before(release, row.since)) known.regime = row.regime;
  }
  for (std::size_t i = 0; i < recorded_releases().size(); ++i) {
    const Release recorded = recorded_release(i);
    if (same_line(recorded, release) || is_before(recorded, release)) known.recorded = i;
  }
  if (!same_line(recorded_release(known.recorded), release)) {
    Diagnostic neighbour;
    neighbour.message = "CRI-O " + release.to_string() +
                        " was not recorded; its keys and built-in values are those of " +
                        std::string(recorded_releases()[known.recorded]);
    neighbour.hint = "compare with the node's own `crio status config`";
    known.diagnostics.push_back(std::move(neighbour));
  }
  return known;
}

std::vector<Release> later_lines(const Release& release) {
  std::vector<Release> lines;
  for (std::size_t i = 0; i < recorded_releases().size(); ++i) {
    const Release recorded = recorded_release(i);
    if (!recorded.suffix.empty() || same_line(recorded, release) || is_before(recorded, release)) continue;
    lines.push_back(recorded);
  }
  return lines;
}

}  // namespace ctkit::engine::crio
