#include "toolkit/install_toolkit.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "cdi/path.h"
#include "toolkit/artifacts.h"
#include "toolkit/config.h"
#include "toolkit/places.h"
#include "toolkit/versions.h"
#include "toolkit/wanted_files.h"

// 1. What can be wrong is looked at before anything is written: artifacts, a file system without programs, a name in
//    the way.
// 2. Versions that an earlier switch replaced go; see remove_old_versions.
// 3. If every file of the version in use is as wanted, its config.toml too, that is all.
// 4. Else a whole version is made under a name that nothing leads to, brought to disk, given its own name; then the
//    link takes its place at once. Up to there an error or a kill leaves the version in use; after it, the new one.
// 5. What we wrote as config.toml is noted in the same version: a config of ours without its note, or with the note of
//    another one, would pass for an administrator's at the next change of settings.
namespace ctkit::toolkit {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

// Larger ones come from the kernel anew each time, and clearing their pages takes longer than reading and comparing.
constexpr std::size_t kChunk = std::size_t{1} << 16U;
constexpr std::size_t kMostText = std::size_t{1} << 20U;
constexpr unsigned kConfigMode = 0644;

std::optional<std::string> read_text(const cdi::Tree& tree, const std::string& path) {
  auto text = tree.read(path, 0, kMostText);
  if (!text) return std::nullopt;
  return *std::move(text);
}

bool same_bytes(const cdi::Tree& source, const std::string& one, const cdi::Tree& tree, const std::string& other) {
  for (std::uint64_t offset = 0;; offset += kChunk) {
    const auto left = source.read(one, offset, kChunk);
    const auto right = tree.read(other, offset, kChunk);
    if (!left || !right || *left != *right) return false;
    if (left->size() < kChunk) return true;
  }
}

/// Whether the name in the folder is as wanted.
bool is_there(const WantedFile& wanted, const std::string& folder, const InstallHost& host) {
  const std::string path = cdi::join(folder, wanted.name);
  if (const auto* link = std::get_if<LinkedName>(&wanted.content)) {
    const auto target = host.tree.target_of(path);
    return target && *target == link->target;
  }
  const auto status = host.tree.look(path);
  if (!status || status->kind != cdi::FileKind::file) return false;
  if (const auto* text = std::get_if<TextFile>(&wanted.content)) {
    return status->mode == text->mode && read_text(host.tree, path) == text->text;
  }
  const auto& copied = std::get<CopiedFile>(wanted.content);
  return status->mode == copied.mode && same_bytes(host.source, copied.source, host.tree, path);
}

Result<void> write(const WantedFile& wanted, const std::string& folder, TreeWriter& writer) {
  const std::string path = cdi::join(folder, wanted.name);
  if (const auto* copied = std::get_if<CopiedFile>(&wanted.content))
    return writer.copy_file(copied->source, path, copied->mode);
  if (const auto* text = std::get_if<TextFile>(&wanted.content)) return writer.add_file(path, text->text, text->mode);
  return writer.add_link(path, std::get<LinkedName>(wanted.content).target);
}

/// What config.toml is to be, and what it was made from.
struct ConfigPlan {
  std::string wanted = {};  ///< ours alone
  std::optional<std::string> present = std::nullopt;
  std::optional<std::string> written = std::nullopt;
  MergedConfig merged = {};
};

Result<void> stage(const std::vector<WantedFile>& wanted,
                   const ConfigPlan& config,
                   const ToolkitPlaces& places,
                   TreeWriter& writer) {
  if (auto done = writer.remove_all(places.staged); !done) return done;
  if (auto done = writer.make_folder(places.staged); !done) return done;
  for (const WantedFile& file : wanted) {
    if (auto done = write(file, places.staged, writer); !done) return done;
  }
  const std::string path = cdi::join(places.staged, kConfigFile);
  if (auto done = writer.make_folder(std::string(cdi::folder_of(path))); !done) return done;
  if (auto done = writer.add_file(path, config.merged.text, kConfigMode); !done) return done;
  const std::string note = cdi::join(places.staged, kWrittenConfig);
  if (auto done = writer.add_file(note, config.wanted, kConfigMode); !done) return done;
  return writer.settle(places.staged);
}

/// A stock installer's folder that our link was exchanged for becomes a version: a process may run from it.
Result<void> put_aside(const ToolkitPlaces& places, InstallHost& host) {
  const auto status = host.tree.look(places.next_link);
  if (!status || status->kind != cdi::FileKind::folder) return {};
  const std::string name = next_version("stock", names_of_versions(host.tree, places));
  return host.writer.rename(places.next_link, cdi::join(places.versions, name));
}

Result<void> switch_to(const std::string& version, const ToolkitPlaces& places, InstallHost& host) {
  TreeWriter& writer = host.writer;
  if (auto done = writer.rename(places.staged, cdi::join(places.versions, version)); !done) return done;
  if (auto done = put_aside(places, host); !done) return done;
  if (auto done = writer.remove_all(places.next_link); !done) return done;
  if (auto done = writer.add_link(places.next_link, link_to_version(version)); !done) return done;
  return writer.take_place(places.next_link, places.link);
}

ConfigPlan plan_config(const InstallRequest& request,
                       const FoundToolkit& found,
                       const ToolkitPlaces& places,
                       const cdi::Tree& tree) {
  const engine::Table wanted = make_config(request.config, places.link);
  ConfigPlan plan{.wanted = render_config(wanted), .present = read_text(tree, places.config)};
  if (found.state == ToolkitState::ours) plan.written = read_text(tree, places.written_config);
  auto written = parse_config(plan.written.value_or(""), places.written_config);
  // Nothing tells who wrote what: it is an installer's, a stock one writes the file anew at each start.
  if (!plan.written || !written) written = parse_config(plan.present.value_or(""), places.config);
  plan.merged = merge_config(wanted, plan.present, written.value_or(engine::Table{}), places.config);
  return plan;
}

Result<void> check(const InstallRequest& request, const ToolkitPlaces& places, InstallHost& host) {
  if (!request.install_folder.starts_with('/') || cdi::clean(request.install_folder) == "/" ||
      request.install_folder.find_first_of(std::string_view("\n\r\0", 3)) != std::string::npos) {
    return std::unexpected(Error{.code = ErrorCode::usage,
                                 .message = "the install folder has to be an absolute path below /",
                                 .where = request.install_folder});
  }
  const auto may_run = host.programs.may_run_from(std::string(cdi::folder_of(places.link)));
  if (!may_run) return std::unexpected(may_run.error());
  if (*may_run) return {};
  return std::unexpected(Error{
      .code = ErrorCode::needs_decision,
      .message = "the file system of the install folder is mounted noexec: no handler could run its binary from there",
      .where = request.install_folder,
      .hint = "give another --toolkit-install-dir (the operator's toolkit.installDir), or mount it without noexec"});
}

}  // namespace

Result<Installed> install_toolkit(const InstallRequest& request, InstallHost& host) {
  const ToolkitPlaces places = places_in(request.install_folder);
  if (auto good = check(request, places, host); !good) return std::unexpected(good.error());
  const auto artifacts = find_artifacts(host.source, request.source_root);
  if (!artifacts) return std::unexpected(artifacts.error());
  if (!artifacts->hooks && request.own_program.empty()) {
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .message = "artifacts of the toolkit are missing: nvidia-cdi-hook",
                                 .where = request.source_root,
                                 .hint = "without it no container with a CDI device starts"});
  }
  const auto found = find_toolkit(host.tree, places);
  if (!found) return std::unexpected(found.error());

  Installed installed{.folder = places.link, .version = found->version};
  for (const std::string& feature : request.config.features) {
    if (!is_known_feature(feature)) installed.warnings.push_back("NVIDIA's runtime knows no feature '" + feature + "'");
  }
  if (found->state == ToolkitState::foreign) {
    installed.warnings.push_back("'" + places.link + "' was a link to '" + found->target +
                                 "'; it leads to our files now");
  }
  if (const auto removed = remove_old_versions(request.install_folder, host); !removed) {
    installed.warnings.push_back(removed.error().message);
  }
  const std::vector<WantedFile> wanted = make_wanted_files(*artifacts,
                                                           {.toolkit_folder = places.link,
                                                            .low_level_runtimes = request.config.runtimes,
                                                            .own_program = request.own_program});
  const ConfigPlan config = plan_config(request, *found, places, host.tree);
  installed.kept_keys = config.merged.kept;
  installed.warnings.insert(installed.warnings.end(), config.merged.warnings.begin(), config.merged.warnings.end());
  installed.config_written = config.present != config.merged.text;

  const bool complete =
      found->state == ToolkitState::ours && !installed.config_written &&
      std::ranges::all_of(wanted, [&](const WantedFile& file) { return is_there(file, places.link, host); });
  if (!complete) {
    const std::string version = next_version(artifacts->version, names_of_versions(host.tree, places));
    auto done = stage(wanted, config, places, host.writer);
    if (done) done = switch_to(version, places, host);
    if (!done) {
      // That this may fail too is no news: the next run does it first.
      std::ignore = host.writer.remove_all(places.staged);
      return std::unexpected(done.error().with_context("installing the toolkit's files"));
    }
    installed.version = version;
    installed.switched = true;
    if (const auto aside = put_aside(places, host); !aside) installed.warnings.push_back(aside.error().message);
  } else if (config.written != config.wanted) {
    if (auto done = host.writer.replace_file(places.written_config, config.wanted, kConfigMode); !done) {
      return std::unexpected(done.error().with_context("noting what was written as the toolkit's config"));
    }
  }
  return installed;
}

Result<std::vector<std::string>> remove_old_versions(const std::string& install_folder, InstallHost& host) {
  const ToolkitPlaces places = places_in(install_folder);
  const auto found = find_toolkit(host.tree, places);
  if (!found) return std::unexpected(found.error());
  std::vector<std::string> names = names_of_versions(host.tree, places);
  std::erase_if(names,
                [&](const std::string& name) { return found->state == ToolkitState::ours && name == found->version; });
  std::vector<std::string> removed;
  if (names.empty()) return removed;
  const std::vector<std::string> programs = host.programs.list();
  for (const std::string& name : names) {
    const std::string folder = cdi::join(places.versions, name);
    if (std::ranges::any_of(programs, [&](const std::string& program) { return cdi::is_below(program, folder); }))
      continue;
    if (auto done = host.writer.remove_all(folder); !done) {
      return std::unexpected(done.error().with_context("removing an old version of the toolkit"));
    }
    removed.push_back(name);
  }
  return removed;
}

Result<std::vector<std::string>> uninstall_toolkit(const std::string& install_folder,
                                                   const cdi::Tree& tree,
                                                   TreeWriter& writer) {
  const ToolkitPlaces places = places_in(install_folder);
  const auto found = find_toolkit(tree, places);
  if (!found) return std::unexpected(found.error());
  std::vector<std::string> removed;
  if (found->state == ToolkitState::ours) removed.push_back(places.link);
  if (tree.look(places.versions)) removed.push_back(places.versions);
  for (const std::string& path : removed) {
    if (auto done = writer.remove_all(path); !done) return std::unexpected(done.error());
  }
  return removed;
}

}  // namespace ctkit::toolkit
