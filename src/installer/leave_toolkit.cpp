#include "installer/leave_toolkit.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "cdi/management.h"
#include "cdi/path.h"
#include "cdi/spec_folders.h"
#include "engine/leaf.h"
#include "engine/overlay.h"
#include "installer/journal.h"
#include "installer/loaded_now.h"
#include "installer/spec_state.h"
#include "installer/state_place.h"
#include "installer/take_back.h"
#include "toolkit/install_toolkit.h"
#include "toolkit/versions.h"

// Who needs the toolkit's files as long as its name leads to a version of ours:
// 1. a handler that the daemon's files have without us, or that it has in memory: the next container starts it.
// 2. a container that runs: containerd's shim starts the container's runtime again for each exec, stop and delete, and
//    for a daemon that starts and asks for its processes, by the name that it keeps in the bundle (v1.7.27,
//    runtime/v2/runc/container.go: WriteRuntime). CRI-O starts the one that its configuration names by then.
// 3. an OCI hook of CRI-O's that names a program there: every container that it is for starts it.
// 4. a CDI spec whose hooks are there. That of the GPUs' management is of no use without them, and goes too; another
//    one is somebody else's.
namespace ctkit::installer {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::string_view kBundles = "io.containerd.runtime.v2.task";

/// Somebody who needs the files, and what to do about it.
struct User {
  std::string what = {};
  std::string hint = {};
};

Result<toolkit::ToolkitPlaces> find_places(const Request& request) {
  const std::string folder = cdi::clean(request.toolkit_folder);
  toolkit::ToolkitPlaces places = toolkit::places_in(std::string(cdi::folder_of(folder)));
  if (request.toolkit_folder.starts_with('/') && places.link == folder && folder != "/toolkit") return places;
  return std::unexpected(Error{.code = ErrorCode::usage,
                               .message = "the toolkit's files are in a folder of the name toolkit, not of this one",
                               .where = request.toolkit_folder,
                               .hint = "--toolkit-folder is the toolkit-install-dir with /toolkit behind it"});
}

/// A folder that isn't there has nothing in it; one that can't be looked into may have.
Result<std::vector<std::string>> names_in(const std::string& folder, const engine::FileReader& files) {
  auto names = files.list(folder);
  if (!names && names.error().code == ErrorCode::not_found) return std::vector<std::string>{};
  return names;
}

/// The same of a file; "" for one that isn't there.
Result<std::string> text_of(const std::string& path, const engine::FileReader& files) {
  auto text = files.read(path);
  if (!text && text.error().code == ErrorCode::not_found) return std::string();
  return text;
}

/// Containers whose runtime is below the folder, by the bundles that containerd keeps while they are there.
Result<std::vector<std::string>> find_containers(const std::string& folder,
                                                 const engine::EffectiveConfig& config,
                                                 const engine::FileReader& files) {
  std::vector<std::string> containers;
  const engine::Value* state = engine::find(config.config, "state");
  if (!state || !state->string()) return containers;
  const std::string bundles = cdi::join(*state->string(), kBundles);
  const auto spaces = names_in(bundles, files);
  if (!spaces) return spaces;
  for (const std::string& name_space : *spaces) {
    const std::string of_space = cdi::join(bundles, name_space);
    const auto ids = names_in(of_space, files);
    if (!ids) return ids;
    for (const std::string& id : *ids) {
      const auto runtime = text_of(cdi::join(cdi::join(of_space, id), "runtime"), files);
      if (!runtime) return std::unexpected(runtime.error());
      if (cdi::is_below(*runtime, folder)) containers.push_back(cdi::join(name_space, id));
    }
  }
  return containers;
}

/// Files of CRI-O's hook folders that name something below the folder, whoever it is that wrote them.
Result<std::vector<std::string>> find_oci_hooks(const std::string& folder,
                                                const engine::EffectiveConfig& config,
                                                const engine::FileReader& files) {
  std::vector<std::string> hooks;
  const engine::Value* folders = engine::find_anywhere(config.config, "hooks_dir");
  if (!folders || !folders->array()) return hooks;
  for (const engine::Value& item : *folders->array()) {
    if (!item.string()) continue;
    const auto names = names_in(*item.string(), files);
    if (!names) return names;
    for (const std::string& name : *names) {
      if (!name.ends_with(".json")) continue;
      const std::string path = cdi::join(*item.string(), name);
      const auto text = text_of(path, files);
      if (!text) return std::unexpected(text.error());
      if (text->contains("\"" + folder + "/")) hooks.push_back(path);
    }
  }
  return hooks;
}

std::vector<cdi::LoadedSpec> find_specs_with_hooks(const std::string& folder,
                                                   const engine::EffectiveConfig& config,
                                                   const Host& host) {
  const auto level = host.cdi_level.value_or(cdi::Level::v1_1_0);
  std::vector<cdi::LoadedSpec> specs = cdi::read_spec_folders(*host.tree, spec_folders_of(&config), level).specs;
  const auto calls = [&](const cdi::ContainerEdits& edits) {
    return std::ranges::any_of(edits.hooks, [&](const cdi::Hook& hook) { return cdi::is_below(hook.path, folder); });
  };
  std::erase_if(specs, [&](const cdi::LoadedSpec& loaded) {
    return !calls(loaded.spec.edits) && std::ranges::none_of(loaded.spec.devices, calls, &cdi::Device::edits);
  });
  return specs;
}

Result<void> add_loaded_handlers(const std::string& folder, Host& host, std::vector<User>& users) {
  if (!host.live || !host.live->daemon) return {};
  const auto loaded = loaded_now(*host.live);
  if (!loaded) return std::unexpected(loaded.error().with_context("asking the daemon for its handlers"));
  for (const LoadedHandler& handler : loaded->handlers) {
    if (!cdi::is_below(handler.binary_name, folder)) continue;
    users.push_back({.what = "the running daemon has the handler '" + handler.name + "'",
                     .hint = "restart the daemon first, after `ctkit uninstall`; that with --toolkit does the rest"});
  }
  return {};
}

/// Who needs the files with the daemon's files as `files` shows them.
Result<std::vector<User>> find_users(const std::string& folder,
                                     const engine::Engine& engine,
                                     const engine::FileReader& files,
                                     bool memory_stays,
                                     Host& host) {
  const auto config = engine.effective(files, false);
  if (!config) return std::unexpected(config.error().with_context("looking for who needs the toolkit's files"));
  std::vector<User> users;
  for (const engine::Handler& handler : engine.handlers(*config)) {
    if (!cdi::is_below(handler.binary, folder)) continue;
    users.push_back({.what = "the daemon's files have the handler '" + handler.name + "' without ctkit's",
                     .hint = "`ctkit explain` tells whose it is"});
  }
  if (memory_stays) {
    if (auto asked = add_loaded_handlers(folder, host, users); !asked) return std::unexpected(asked.error());
  }
  const auto containers = find_containers(folder, *config, files);
  if (!containers) return std::unexpected(containers.error().with_context("looking for containers that need them"));
  if (!containers->empty()) {
    const std::string others = containers->size() > 1 ? " and " + std::to_string(containers->size() - 1) + " more" : "";
    users.push_back(
        {.what = "containers run with a runtime from there, '" + containers->front() + "'" + others,
         .hint = "without it they could not be stopped, nor outlive a restart of the daemon: end their pods first"});
  }
  const auto hooks = find_oci_hooks(folder, *config, files);
  if (!hooks) return std::unexpected(hooks.error().with_context("looking for OCI hooks that need them"));
  for (const std::string& hook : *hooks) {
    users.push_back({.what = "the OCI hook '" + hook + "' starts a program there", .hint = "remove the file first"});
  }
  for (const cdi::LoadedSpec& spec : find_specs_with_hooks(folder, *config, host)) {
    if (spec.spec.kind == cdi::kManagementKind) continue;
    users.push_back({.what = "the CDI spec '" + spec.file + "' calls hooks there",
                     .hint = "end who writes it, such as the device plugin, and remove the file"});
  }
  return users;
}

Error in_use(const std::string& folder, const std::vector<User>& users) {
  std::string message = "the toolkit's files are in use: " + users.front().what;
  if (users.size() > 1) message += ", and " + std::to_string(users.size() - 1) + " more";
  return {.code = ErrorCode::needs_decision,
          .message = std::move(message),
          .where = folder,
          .hint = users.front().hint + "; without --toolkit they stay"};
}

Result<bool> is_ours(const toolkit::ToolkitPlaces& places, const Host& host) {
  const auto found = toolkit::find_toolkit(*host.tree, places);
  if (!found) return std::unexpected(found.error());
  return found->state == toolkit::ToolkitState::ours;
}

}  // namespace

Result<void> check_toolkit_is_free(const Request& request, const engine::Engine& engine, Host& host) {
  const auto places = find_places(request);
  if (!places) return std::unexpected(places.error());
  const auto ours = is_ours(*places, host);
  if (!ours) return std::unexpected(ours.error());
  if (!*ours) return {};
  const auto read = read_journal(host.files, state_folder(request));
  if (!read) return std::unexpected(read.error());
  const std::optional<Journal>& journal = *read;
  engine::Overlay without(host.files);
  if (journal) {
    const auto taken = take_back(engine, host.files, *journal);
    if (!taken) return std::unexpected(taken.error());
    for (const TakenBack& file : *taken)
      without.put(file.path, file.left);
  }
  // Else the restart that takes our handlers off is still to come.
  const bool memory_stays = !journal || request.restart == RestartMode::none;
  const auto users = find_users(places->link, engine, without, memory_stays, host);
  if (!users) return std::unexpected(users.error());
  if (!users->empty()) return std::unexpected(in_use(places->link, *users));
  return {};
}

Result<std::vector<std::string>> take_toolkit_off(const Request& request, const engine::Engine& engine, Host& host) {
  const auto places = find_places(request);
  if (!places) return std::unexpected(places.error());
  const auto ours = is_ours(*places, host);
  if (!ours) return std::unexpected(ours.error());
  std::vector<std::string> gone;
  if (*ours) {
    const auto users = find_users(places->link, engine, host.files, true, host);
    if (!users) return std::unexpected(users.error());
    if (!users->empty()) {
      Error error = in_use(places->link, *users);
      error.code = ErrorCode::failed;
      return std::unexpected(error.with_context("the daemon's files are without ctkit's by now"));
    }
    const auto config = engine.effective(host.files, false);
    if (!config) return std::unexpected(config.error());
    for (const cdi::LoadedSpec& spec : find_specs_with_hooks(places->link, *config, host)) {
      if (auto done = host.writer->remove_all(spec.file); !done) return std::unexpected(done.error());
      gone.push_back(spec.file);
    }
  }
  auto removed = toolkit::uninstall_toolkit(std::string(cdi::folder_of(places->link)), *host.tree, *host.writer);
  if (!removed) return std::unexpected(removed.error().with_context("taking the toolkit's files off"));
  gone.insert(gone.end(), removed->begin(), removed->end());
  return gone;
}

}  // namespace ctkit::installer
