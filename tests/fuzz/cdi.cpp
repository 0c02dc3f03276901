#include <string>

#include "cdi/level.h"
#include "cdi/spec_io.h"
#include "cdi/validate.h"
#include "fuzz/fuzz.h"

using namespace ctkit;

/// A spec's text, YAML or JSON: every library gives a verdict, a verdict is the same when it is asked for twice, and
/// what is loaded can be written and read again as the same spec.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  for (const cdi::LevelRules& rules : cdi::levels()) {
    const cdi::Verdict verdict = cdi::validate_text(text, rules.level);
    fuzz::demand(verdict == cdi::validate_text(text, rules.level), "a verdict is no matter of luck");
    fuzz::demand(!(verdict.problem && verdict.problem->message.empty()), "a refusal says why");
    fuzz::demand(verdict.crash == cdi::Crash::none || !verdict.problem, "who dies says nothing");
    const auto spec = cdi::read_spec(text, rules.level);
    if (!verdict.loads() || !spec) continue;
    for (const std::string& written : {cdi::render_yaml(*spec), cdi::render_json(*spec)})
      fuzz::demand(
          cdi::validate_text(written, rules.level).loads(), "what loads and is written again loads again", written);
  }
  return 0;
}
