#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "engine/containerd/containerd_engine.h"
#include "fuzz/fuzz.h"
#include "installer/install.h"
#include "installer/report_json.h"
#include "installer/report_text.h"
#include "support/memory_files.h"

using namespace ctkit;

namespace {

constexpr std::array kReleases = {"1.5.18",
                                  "1.6.20",
                                  "1.6.39",
                                  "1.7.0",
                                  "1.7.27",
                                  "2.0.0",
                                  "2.0.1",
                                  "2.0.5",
                                  "2.0.11",
                                  "2.1.9",
                                  "2.1.9~ds1",
                                  "2.2.0",
                                  "2.2.7",
                                  "2.3.4",
                                  "2.3.5",
                                  "2.4.0-beta.0"};
constexpr std::array kPaths = {
    "/etc/containerd/config.toml", "/etc/containerd/conf.d/10-a.toml", "/etc/containerd/conf.d/20-b.toml"};

/// What the first line says: letters for the release and for each choice, then a key to explain.
struct Settings {
  std::string release = {};
  bool as_dump = false;
  bool changes = false;  ///< plan, apply and uninstall too: they take most of the time
  engine::OnConflict on_conflict = engine::OnConflict::restore;
  bool set_as_default = false;
  std::string key = {};
};

Settings parse_settings(std::string_view line) {
  const std::size_t flags = fuzz::choice(line, 1, 16);
  return {.release = kReleases.at(fuzz::choice(line, 0, kReleases.size())),
          .as_dump = (flags & 1U) != 0,
          .changes = (flags & 2U) != 0,
          .on_conflict = (flags & 4U) != 0 ? engine::OnConflict::keep : engine::OnConflict::restore,
          .set_as_default = (flags & 8U) != 0,
          .key = std::string(line.substr(std::min<std::size_t>(2, line.size())))};
}

installer::Request make_request(installer::Verb verb, const Settings& settings) {
  installer::Request request{.verb = verb, .release = settings.release, .as_dump = settings.as_dump};
  if (verb == installer::Verb::explain) request.keys = {settings.key};
  if (verb == installer::Verb::preflight) request.target = "2.3.4";
  request.desired = {
      .handlers = {{.name = "nvidia", .binary = "/opt/nvidia"}, {.name = "nvidia-cdi", .binary = "/opt/nvidia.cdi"}},
      .default_handler = settings.set_as_default ? "nvidia" : "",
      .on_conflict = settings.on_conflict};
  return request;
}

/// Runs a verb and prints it in every format; whether it came to a result.
bool run_verb(installer::Verb verb, const Settings& settings, const engine::Engine& engine, test::MemoryFiles& files) {
  installer::Host host{.files = files};
  installer::Request request = make_request(verb, settings);
  const auto outcome = installer::run(request, engine, host);
  if (!outcome) {
    fuzz::demand(!installer::report_error(outcome.error()).empty(), "a failure says something");
    return false;
  }
  fuzz::demand(!report_text(request, *outcome).empty(), "text is printed");
  request.show_origin = true;
  fuzz::demand(!report_text(request, *outcome).empty(), "text with origins is printed");
  fuzz::demand(!report_json(request, *outcome).empty(), "JSON with origins is printed");
  request.show_origin = false;
  fuzz::demand(!report_json(request, *outcome).empty(), "JSON is printed");
  return true;
}

/// What is recorded on the way changes nothing, and all that is asked of a result answers.
void check_reading(const Settings& settings, const engine::Engine& engine, test::MemoryFiles& files) {
  const auto plain = engine.effective(files, false);
  const auto told = engine.effective(files, true);
  fuzz::demand(plain.has_value() == told.has_value(), "it loads with and without events");
  if (!plain) {
    fuzz::demand(plain.error() == told.error(), "the refusal is the same with and without events");
    return;
  }
  fuzz::demand(plain->events.empty(), "no events unless asked for");
  fuzz::demand(plain->config == told->config, "the config is the same with and without events");
  fuzz::demand(plain->diagnostics == told->diagnostics, "the diagnostics are the same with and without events");
  fuzz::demand(!engine.render(*plain).empty(), "the dump is printed");
  run_verb(installer::Verb::effective, settings, engine, files);
  run_verb(installer::Verb::explain, settings, engine, files);
  run_verb(installer::Verb::lint, settings, engine, files);
  run_verb(installer::Verb::preflight, settings, engine, files);
}

/// A plan after apply is empty, and uninstall leaves what was there.
void check_change(const Settings& settings, const engine::Engine& engine, test::MemoryFiles& files) {
  const test::MemoryFiles::Tree before = files.tree();
  const bool planned = run_verb(installer::Verb::plan, settings, engine, files);
  fuzz::demand(files.tree() == before, "plan writes nothing");
  const bool applied = run_verb(installer::Verb::apply, settings, engine, files);
  fuzz::demand(planned == applied, "what can be planned can be applied");
  if (!applied) {
    fuzz::demand(files.tree() == before, "an apply that fails leaves the files as before");
    return;
  }
  installer::Host host{.files = files};
  const auto again = installer::run(make_request(installer::Verb::plan, settings), engine, host);
  fuzz::demand(again.has_value(), "after apply a plan can be made", again ? "" : again.error().message);
  fuzz::demand(again->plan->files.empty(),
               "the plan after apply is empty",
               again->plan->files.empty() ? "" : again->plan->files.front().path);
  fuzz::demand(run_verb(installer::Verb::uninstall, settings, engine, files), "uninstall works");
  fuzz::demand(files.tree() == before, "uninstall leaves the tree as it was");
}

}  // namespace

/// First line: settings; then up to three files, a form feed between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const Settings settings = parse_settings(fuzz::take_until(rest, '\n'));
  test::MemoryFiles files;
  for (const char* path : kPaths) {
    if (rest.empty()) break;
    files.add_file(path, std::string(fuzz::take_until(rest, '\f')));
  }
  const auto release = engine::Release::parse(settings.release);
  auto known = engine::containerd::find_release(*release);
  const engine::containerd::ContainerdEngine engine({.known = *std::move(known)}, {.as_dump = settings.as_dump});
  check_reading(settings, engine, files);
  if (settings.changes) check_change(settings, engine, files);
  return 0;
}
