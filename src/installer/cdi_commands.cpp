#include "installer/cdi_commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cdi/device_name.h"
#include "cdi/inventory.h"
#include "cdi/management.h"
#include "cdi/path.h"
#include "cdi/spec_folders.h"
#include "cdi/spec_io.h"
#include "engine/release.h"
#include "installer/daemon_kind.h"
#include "installer/report_cdi.h"
#include "installer/spec_state.h"

namespace ctkit::installer {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::string_view kKernelRelease = "/proc/sys/kernel/osrelease";
constexpr std::string_view kFirmwareFolder = "/sys/module/firmware_class/parameters/path";
constexpr unsigned kSpecMode = 0644;

/// Absent files are "".
std::string read_line(const engine::FileReader& files, std::string_view path) {
  auto text = files.read(path);
  if (!text) return "";
  while (text->ends_with('\n') || text->ends_with(' '))
    text->pop_back();
  return *std::move(text);
}

Result<cdi::Level> find_level(const CdiRequest& request, const HostRoot& root, const engine::FileReader& here) {
  if (!request.level.empty()) return cdi::find_level(request.level).value_or(cdi::Level::v0_5_4);
  const auto named = observe_release(here, root, request.release);
  if (!named) return std::unexpected(named.error());
  if (named->empty()) {
    return std::unexpected(Error{.code = ErrorCode::unknown_release,
                                 .message = "the CDI library is not known",
                                 .where = root.folder,
                                 .hint = "give it as --level, or containerd's release as --release"});
  }
  const auto release = engine::Release::parse(*named);
  if (!release) return std::unexpected(release.error());
  const auto level = kind_of(*named).cdi_level(release->major, release->minor, release->patch);
  if (!level) {
    return std::unexpected(
        Error{.code = ErrorCode::unknown_release,
              .message = "containerd " + release->to_string() + " has no CDI, or one that nobody has looked at",
              .hint = "give a library as --level"});
  }
  return *level;
}

std::vector<std::string> spec_folders(const CdiRequest& request) {
  return request.spec_dirs.empty() ? cdi::usual_spec_folders() : request.spec_dirs;
}

Result<CdiOutcome> validate(const CdiRequest& request, cdi::Level level, const cdi::Tree& tree) {
  const cdi::SpecFolders folders = cdi::read_spec_folders(tree, spec_folders(request), level);
  return CdiOutcome{.text = request.json ? report_cdi_json(folders, level) : report_cdi_text(folders, level),
                    .problems = !folders.problems.empty() || folders.crash != cdi::Crash::none};
}

Result<CdiOutcome> list(const CdiRequest& request,
                        cdi::Level level,
                        const engine::FileReader& files,
                        const cdi::Tree& tree) {
  const cdi::SpecFolders folders = cdi::read_spec_folders(tree, spec_folders(request), level);
  const std::vector<cdi::Staleness> rows = judge_specs(folders, tree, files);
  return CdiOutcome{
      .text = request.json ? report_cdi_list_json(folders, rows, level) : report_cdi_list_text(folders, rows, level),
      .problems = !folders.problems.empty() || folders.crash != cdi::Crash::none};
}

/// The roots of a generate request, clean and complete.
struct Roots {
  std::string driver = {};
  std::string driver_here = {};
  std::string dev = {};
  std::string dev_here = {};
};

Roots complete(const CdiRequest& request) {
  Roots roots{.driver = cdi::clean(request.driver_root)};
  roots.driver_here = request.driver_root_ctr_path.empty() ? roots.driver : cdi::clean(request.driver_root_ctr_path);
  roots.dev = request.dev_root.empty() ? roots.driver : cdi::clean(request.dev_root);
  roots.dev_here = !request.dev_root_ctr_path.empty() ? cdi::clean(request.dev_root_ctr_path)
                   : roots.dev == roots.driver        ? roots.driver_here
                                                      : roots.dev;
  return roots;
}

Result<cdi::Spec> make_spec(const CdiRequest& request,
                            const engine::FileReader& files,
                            const engine::FileReader& here,
                            const cdi::Tree& tree,
                            std::vector<std::string>& warnings) {
  if (const auto kind = cdi::parse_kind(request.kind); !kind)
    return std::unexpected(kind.error().with_context("--kind"));
  if (!request.hook_path.starts_with('/')) {
    return std::unexpected(Error{.code = ErrorCode::usage, .message = "--nvidia-cdi-hook-path wants an absolute path"});
  }
  const Roots roots = complete(request);
  const auto driver = tree.below(roots.driver_here);
  if (!driver) return std::unexpected(driver.error().with_context("opening the driver root"));
  const auto dev = tree.below(roots.dev_here);
  if (!dev) return std::unexpected(dev.error().with_context("opening the device root"));
  std::string kernel = read_line(files, kKernelRelease);
  if (kernel.empty()) kernel = read_line(here, kKernelRelease);
  const auto inventory =
      cdi::take_inventory(**driver,
                          **dev,
                          {.kernel_release = std::move(kernel),
                           .firmware_folder = read_line(files, kFirmwareFolder),
                           .module_version = cdi::parse_module_version(read_line(files, cdi::kModuleVersionFile)),
                           .root_is_host = roots.driver == "/"});
  if (!inventory) return std::unexpected(inventory.error());
  warnings = inventory->warnings;
  return cdi::make_management_spec(*inventory,
                                   {.kind = request.kind,
                                    .hook_path = request.hook_path,
                                    .driver_root = roots.driver,
                                    .dev_root = roots.dev,
                                    .same_view = roots.driver == roots.driver_here && roots.dev == roots.dev_here});
}

/// Writes the text unless it is there already, as it is and for everybody to read.
Result<bool> write_if_changed(FileSystem& files, const std::string& path, const std::string& text) {
  const auto present = files.read(path);
  const auto mode = files.mode_of(path);
  if (present && *present == text && mode && *mode == kSpecMode) return false;
  if (const auto made = files.make_folders(cdi::folder_of(path)); !made) return std::unexpected(made.error());
  // Of a file that is new with a link the daemon's watch sees nothing: it waits for renames, writes
  // and removals (pkg/cdi/cache.go). So what is new is replaced once more, by a rename.
  const bool is_new = !mode && mode.error().code == ErrorCode::not_found;
  for (int times = is_new ? 2 : 1; times > 0; --times) {
    if (auto done = files.replace(path, text, {.mode = kSpecMode, .for_existing = true}); !done) {
      return std::unexpected(done.error());
    }
  }
  return true;
}

Result<CdiOutcome> generate(const CdiRequest& request,
                            const engine::FileReader& here,
                            FileSystem& files,
                            const cdi::Tree& tree) {
  CdiOutcome outcome;
  std::vector<std::string> warnings;
  const auto spec = make_spec(request, files, here, tree, warnings);
  if (!spec) return std::unexpected(spec.error());
  for (const std::string& warning : warnings)
    outcome.messages += "warning: " + warning + "\n";
  std::string text = request.json ? cdi::render_json(*spec) : cdi::render_yaml(*spec);
  if (request.output == "-") {
    outcome.text = std::move(text);
    return outcome;
  }
  std::string path =
      request.output.empty() ? cdi::join(cdi::kDynamicFolder, cdi::management_file_name(request.kind)) : request.output;
  if (request.output.empty() && request.json)
    path = path.substr(0, path.size() - std::string_view("yaml").size()) + "json";
  if (!path.starts_with('/')) path = "/" + path;
  const auto written = write_if_changed(files, path, text);
  if (!written) return std::unexpected(written.error());
  outcome.messages += path + (*written ? ": written\n" : ": unchanged\n");
  return outcome;
}

}  // namespace

Result<CdiOutcome> run_cdi(const CdiRequest& request,
                           const HostRoot& root,
                           const engine::FileReader& here,
                           FileSystem& files,
                           const cdi::Tree& tree) {
  if (request.verb == CdiVerb::generate) return generate(request, here, files, tree);
  const auto level = find_level(request, root, here);
  if (!level) return std::unexpected(level.error());
  return request.verb == CdiVerb::validate ? validate(request, *level, tree) : list(request, *level, files, tree);
}

}  // namespace ctkit::installer
