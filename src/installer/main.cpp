#include <exception>
#include <filesystem>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/diagnostic.h"
#include "installer/cdi_cli.h"
#include "installer/cdi_commands.h"
#include "installer/cli.h"
#include "installer/exit_code.h"
#include "installer/host/cdi_hooks.h"
#include "installer/host/posix_file_system.h"
#include "installer/host/posix_tree.h"
#include "installer/install.h"
#include "installer/observe.h"
#include "installer/report_json.h"
#include "installer/report_text.h"

namespace ctkit::installer {
namespace {

int fail(const engine::Error& error) {
  std::cerr << report_error(error);
  return static_cast<int>(exit_code(error.code));
}

/// Paths of our own machine, as the user gives them from the folder he stands in.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

const engine::Diagnostics* diagnostics_of(const Outcome& outcome) {
  if (outcome.effective) return &outcome.effective->diagnostics;
  if (outcome.lint) return &outcome.lint->diagnostics;
  if (outcome.preflight) return &outcome.preflight->diagnostics;
  return outcome.plan ? &outcome.plan->diagnostics : nullptr;
}

int run_request(Request request) {
  const auto here = host::PosixFileSystem::open("/");
  if (!here) return fail(here.error());
  const HostRoot root = find_host_root(**here, absolute(request.root));
  if (!request.defaults.empty()) request.defaults = absolute(request.defaults);
  const auto engine = observe_engine(**here, root, request);
  if (!engine) return fail(engine.error());
  const auto files = host::PosixFileSystem::open(root.folder);
  if (!files) return fail(files.error());
  Host host{.files = **files};
  const auto outcome = run(request, **engine, host);
  if (!outcome) return fail(outcome.error());
  if (const auto* diagnostics = diagnostics_of(*outcome)) {
    for (const engine::Diagnostic& diagnostic : *diagnostics) std::cerr << render(diagnostic);
  }
  std::cout << (request.format != Format::text ? report_json(request, *outcome) : report_text(request, *outcome));
  if (!std::cout.flush()) {
    std::cerr << "ctkit: cannot write the result to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  const bool differs = (outcome->plan && !outcome->plan->files.empty()) ||
                       (outcome->lint && outcome->lint->has_problems()) ||
                       (outcome->preflight && outcome->preflight->changes());
  return static_cast<int>(request.exit_code && differs ? ExitCode::differences : ExitCode::done);
}

int run_cdi_request(CdiRequest request) {
  const auto here = host::PosixFileSystem::open("/");
  if (!here) return fail(here.error());
  const HostRoot root = find_host_root(**here, absolute(request.root));
  if (!request.output.empty() && request.output != "-" && root.folder == "/") request.output = absolute(request.output);
  const auto files = host::PosixFileSystem::open(root.folder);
  if (!files) return fail(files.error());
  const auto tree = host::PosixTree::open(root.folder);
  if (!tree) return fail(tree.error());
  const auto outcome = run_cdi(request, root, **here, **files, **tree);
  if (!outcome) return fail(outcome.error());
  std::cerr << outcome->messages;
  std::cout << outcome->text;
  if (!std::cout.flush()) {
    std::cerr << "ctkit: cannot write the result to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(request.exit_code && outcome->problems ? ExitCode::differences : ExitCode::done);
}

/// `ctkit cdi-hook …`, or this binary under the name that CDI specs call.
bool is_hook(std::span<const char* const> words) {
  if (words.empty()) return false;
  const std::string_view name = words[0];
  return name.substr(name.rfind('/') + 1) == "nvidia-cdi-hook" ||
         (words.size() > 1 && std::string_view(words[1]) == "cdi-hook");
}

int run_hook(std::span<const char* const> words) {
  const std::string_view name = words[0];
  const bool by_name = name.substr(name.rfind('/') + 1) == "nvidia-cdi-hook";
  const auto rest = words.subspan(by_name ? 1 : 2);
  return host::run_cdi_hook(std::vector<std::string>(rest.begin(), rest.end()));
}

int print(const Printed& printed) {
  (printed.mistake ? std::cerr : std::cout) << printed.text;
  return static_cast<int>(printed.mistake ? ExitCode::usage : ExitCode::done);
}

}  // namespace
}  // namespace ctkit::installer

int main(int argc, char** argv) {
  using namespace ctkit::installer;
  try {
    const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    if (is_hook(words)) return run_hook(words);
    if (const auto cdi = parse_cdi_command_line(words)) {
      if (const auto* printed = std::get_if<Printed>(&*cdi)) return print(*printed);
      return run_cdi_request(std::get<CdiRequest>(*cdi));
    }
    auto parsed = parse_command_line(words);
    if (const auto* printed = std::get_if<Printed>(&parsed)) return print(*printed);
    return run_request(std::get<Request>(parsed));
  } catch (const std::exception& error) {
    std::cerr << "ctkit: this is a bug: " << error.what() << '\n';
    return static_cast<int>(ExitCode::failed);
  }
}
