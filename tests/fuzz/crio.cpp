#include <array>
#include <string>
#include <utility>

#include "engine/crio/crio_engine.h"
#include "fuzz/fuzz.h"
#include "installer/install.h"
#include "installer/report_json.h"
#include "installer/report_text.h"
#include "support/memory_files.h"

using namespace ctkit;

namespace {

constexpr std::array kReleases = {"1.24.6", "1.25.1", "1.28.11", "1.30.14", "1.31.13", "1.34.11", "1.35.0", "1.36.3"};
constexpr std::array kPaths = {
    "/etc/crio/crio.conf", "/etc/crio/crio.conf.d/10-a.conf", "/etc/crio/crio.conf.d/20-b.conf"};

installer::Request make_request(installer::Verb verb, bool set_as_default) {
  installer::Request request{.verb = verb};
  if (verb == installer::Verb::preflight) request.target = "1.33.13";
  request.desired = {.handlers = {{.name = "nvidia", .binary = "/opt/nvidia"}},
                     .default_handler = set_as_default ? "nvidia" : ""};
  return request;
}

/// Runs a verb and prints it; whether it came to a result.
bool run_verb(installer::Verb verb, bool set_as_default, const engine::Engine& engine, test::MemoryFiles& files) {
  installer::Host host{.files = files};
  const installer::Request request = make_request(verb, set_as_default);
  const auto outcome = installer::run(request, engine, host);
  if (!outcome) {
    fuzz::demand(!installer::report_error(outcome.error()).empty(), "a failure says something");
    return false;
  }
  fuzz::demand(!report_text(request, *outcome).empty(), "text is printed");
  fuzz::demand(!report_json(request, *outcome).empty(), "JSON is printed");
  return true;
}

/// A plan after apply is empty, and uninstall leaves what was there.
void check_change(bool set_as_default, const engine::Engine& engine, test::MemoryFiles& files) {
  const test::MemoryFiles::Tree before = files.tree();
  const bool planned = run_verb(installer::Verb::plan, set_as_default, engine, files);
  const bool applied = run_verb(installer::Verb::apply, set_as_default, engine, files);
  fuzz::demand(planned == applied, "what can be planned can be applied");
  if (applied) {
    installer::Host host{.files = files};
    const auto again = installer::run(make_request(installer::Verb::plan, set_as_default), engine, host);
    fuzz::demand(again.has_value(), "after apply a plan can be made", again ? "" : again.error().message);
    fuzz::demand(again->plan->files.empty(), "the plan after apply is empty");
    fuzz::demand(run_verb(installer::Verb::uninstall, set_as_default, engine, files), "uninstall works");
  }
  fuzz::demand(files.tree() == before, "the tree is as it was");
}

}  // namespace

/// First line: letters for the release and whether to make nvidia the default; then up to three
/// files, a form feed between.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  const std::string_view settings = fuzz::take_until(rest, '\n');
  test::MemoryFiles files;
  files.add_folder("/etc/crio");
  for (const char* path : kPaths) {
    if (rest.empty()) break;
    files.add_file(path, std::string(fuzz::take_until(rest, '\f')));
  }
  const auto release = engine::Release::parse(kReleases.at(fuzz::choice(settings, 0, kReleases.size())));
  const engine::crio::CrioEngine engine(engine::crio::find_release(*release).value(), {});
  const auto plain = engine.effective(files, false);
  const auto told = engine.effective(files, true);
  fuzz::demand(plain.has_value() == told.has_value(), "it loads with and without events");
  if (plain) fuzz::demand(plain->config == told->config, "the config is the same with and without events");
  const bool set_as_default = fuzz::choice(settings, 1, 2) != 0;
  for (const installer::Verb verb :
       {installer::Verb::effective, installer::Verb::explain, installer::Verb::lint, installer::Verb::preflight})
    run_verb(verb, set_as_default, engine, files);
  check_change(set_as_default, engine, files);
  return 0;
}
