#include <string>
#include <vector>

#include "fuzz/fuzz.h"
#include "installer/cli.h"

using namespace ctkit;

/// One word a line. Every command line is a request, or something to print.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::text_of(data, size);
  std::vector<std::string> words = {"ctkit"};
  while (!rest.empty())
    words.emplace_back(fuzz::take_until(rest, '\n'));
  std::vector<const char*> argv;
  argv.reserve(words.size());
  for (const std::string& word : words)
    argv.push_back(word.c_str());
  const auto parsed = installer::parse_command_line(argv);
  if (const auto* printed = std::get_if<installer::Printed>(&parsed)) {
    fuzz::demand(!printed->text.empty(), "help and mistakes say something");
  }
  return 0;
}
