#include "cdi/spec_faults.h"

#include <set>
#include <string>
#include <utility>

#include "cdi/path.h"

namespace ctkit::cdi {

namespace {

/// Who can mend a stale spec, told by the names that writers give their files.
std::string mender_of(const Staleness& row) {
  if (base_name(row.file).starts_with("k8s.device-plugin."))
    return "restart the device plugin: it writes its spec at its start only";
  if (row.kind.starts_with("management.nvidia.com/")) return "write it anew with `ctkit cdi generate`";
  return "let its writer write it anew";
}

std::string or_none(const std::string& version) {
  return version.empty() ? "none" : version;
}

SpecFault stale_fault(const Staleness& row) {
  std::string message = row.state == SpecState::missing
                            ? "it mounts '" + row.missing.front() + "', which is not there: no container starts with it"
                            : "it is of driver " + row.spec_version + ", the loaded module is " + row.module_version;
  message += " (spec " + or_none(row.spec_version) + ", libraries " + or_none(row.library_version) + ", module " +
             or_none(row.module_version) + ")";
  return {.kind = FaultKind::stale, .file = row.file, .message = std::move(message), .hint = mender_of(row)};
}

}  // namespace

std::vector<SpecFault> find_spec_faults(const SpecFolders& folders, std::span<const Staleness> rows) {
  std::vector<SpecFault> faults;
  if (folders.crash != Crash::none) {
    faults.push_back({.kind = FaultKind::deadly,
                      .file = folders.crash_file,
                      .message = folders.crash == Crash::panic
                                     ? "containerd's CDI library dies of this file, and containerd with it"
                                     : "containerd's CDI library waits for this file for ever",
                      .hint = "move the file out of the folder"});
    return faults;
  }
  for (const auto& [file, problems] : folders.problems) {
    for (const Problem& problem : problems) {
      const bool clash = problem.problem == ProblemClass::conflict;
      faults.push_back({.kind = clash ? FaultKind::clash : FaultKind::invalid,
                        .file = file,
                        .line = problem.line,
                        .message = problem.message,
                        .hint = clash ? "keep the device in one of the files, or put one into the "
                                        "folder of higher priority"
                                      : "until then none of its devices can be had"});
    }
  }
  for (const Staleness& row : rows) {
    if (row.stale()) faults.push_back(stale_fault(row));
  }
  return faults;
}

std::vector<SpecFault> find_shadowed_specs(const SpecFolders& folders) {
  std::vector<SpecFault> faults;
  for (const LoadedSpec& low : folders.specs) {
    if (!low.spec.kind.starts_with("management.nvidia.com/")) continue;
    for (const LoadedSpec& high : folders.specs) {
      if (high.priority <= low.priority || high.spec.kind != low.spec.kind) continue;
      faults.push_back({.kind = FaultKind::shadowed,
                        .file = low.file,
                        .message = "'" + high.file + "' is of kind '" + low.spec.kind + "' too, and its folder wins",
                        .hint = "keep one of them: whoever mends this one changes nothing"});
      break;
    }
  }
  return faults;
}

std::vector<SpecFault> find_missing_hooks(const SpecFolders& folders, const Tree& host) {
  constexpr unsigned kExecutable = 0111;
  std::vector<SpecFault> faults;
  for (const LoadedSpec& loaded : folders.specs) {
    std::set<std::string> told;
    const auto look_at = [&](const ContainerEdits& edits) {
      for (const Hook& hook : edits.hooks) {
        if (hook.path.empty() || !told.insert(hook.path).second) continue;
        const auto status = host.follow(hook.path);
        const bool missing = !status && status.error().code == engine::ErrorCode::not_found;
        if (!missing && !(status && (status->kind != FileKind::file || (status->mode & kExecutable) == 0))) continue;
        faults.push_back({.kind = FaultKind::missing_hook,
                          .file = loaded.file,
                          .line = hook.line,
                          .message = "its hook '" + hook.path + "' " +
                                     (missing ? "is not there" : "cannot be executed") +
                                     ": no container starts with this spec",
                          .hint = "install the program, or write the spec anew with the path it has"});
      }
    };
    look_at(loaded.spec.edits);
    for (const Device& device : loaded.spec.devices)
      look_at(device.edits);
  }
  return faults;
}

}  // namespace ctkit::cdi
