#include "toolkit/wanted_files.h"

#include "toolkit/wrapper.h"

namespace ctkit::toolkit {

namespace {

constexpr unsigned kExecutable = 0111;
constexpr unsigned kProgramMode = 0755;
constexpr unsigned kModeBits = 0777;  // set-id bits of an artifact are no part of it

}  // namespace

std::vector<WantedFile> make_wanted_files(const Artifacts& artifacts, const WantedRequest& request) {
  std::vector<WantedFile> wanted;
  for (const Artifact& library : artifacts.libraries) {
    wanted.push_back(
        {.name = library.name, .content = CopiedFile{.source = library.path, .mode = library.mode & kModeBits}});
    if (library.link != library.name) {
      wanted.push_back({.name = library.link, .content = LinkedName{.target = library.name}});
    }
  }
  for (const Artifact& program : artifacts.programs) {
    const unsigned mode = (program.mode & kModeBits) | kExecutable;
    wanted.push_back({.name = program.name + ".real", .content = CopiedFile{.source = program.path, .mode = mode}});
    wanted.push_back(
        {.name = program.name,
         .content = TextFile{.text = render_wrapper(program.name, request.toolkit_folder, request.low_level_runtimes),
                             .mode = mode}});
  }
  wanted.push_back(
      {.name = "nvidia-container-toolkit", .content = LinkedName{.target = "nvidia-container-runtime-hook"}});
  // The hooks need no environment, and so no wrapper.
  if (artifacts.hooks) {
    wanted.push_back({.name = artifacts.hooks->name,
                      .content = CopiedFile{.source = artifacts.hooks->path,
                                            .mode = (artifacts.hooks->mode & kModeBits) | kExecutable}});
  }
  if (!request.own_program.empty()) {
    wanted.push_back({.name = "ctkit", .content = CopiedFile{.source = request.own_program, .mode = kProgramMode}});
    if (!artifacts.hooks) wanted.push_back({.name = "nvidia-cdi-hook", .content = LinkedName{.target = "ctkit"}});
  }
  return wanted;
}

}  // namespace ctkit::toolkit
