#include "cdi/staleness.h"

#include <algorithm>

#include "cdi/path.h"

namespace ctkit::cdi {

namespace {

constexpr std::size_t kMostMissing = 5;

std::vector<const ContainerEdits*> all_edits(const Spec& spec) {
  std::vector<const ContainerEdits*> all = {&spec.edits};
  for (const Device& device : spec.devices)
    all.push_back(&device.edits);
  return all;
}

bool is_driver_library(std::string_view name) {
  return (name.starts_with("lib") && name.find(".so.") != std::string_view::npos) || name.starts_with("gsp");
}

}  // namespace

std::string version_in_spec(const Spec& spec) {
  for (const std::string_view library : {"libnvidia-ml.so.", "libcuda.so."}) {
    for (const ContainerEdits* edits : all_edits(spec)) {
      for (const Mount& mount : edits->mounts) {
        const std::string_view name = base_name(mount.host_path);
        if (!name.starts_with(library)) continue;
        const std::string_view version = name.substr(library.size());
        if (version.contains('.')) return std::string(version);
      }
    }
  }
  return "";
}

Staleness judge(const LoadedSpec& loaded,
                const Tree& host,
                std::string_view library_version,
                std::string_view module_version) {
  Staleness row{.file = loaded.file,
                .kind = loaded.spec.kind,
                .spec_version = version_in_spec(loaded.spec),
                .library_version = std::string(library_version),
                .module_version = std::string(module_version)};
  for (const ContainerEdits* edits : all_edits(loaded.spec)) {
    for (const Mount& mount : edits->mounts) {
      if (row.missing.size() == kMostMissing) break;
      if (!is_driver_library(base_name(mount.host_path))) continue;
      const auto status = host.follow(mount.host_path);
      if (!status && status.error().code == engine::ErrorCode::not_found) row.missing.push_back(mount.host_path);
    }
  }
  if (!row.missing.empty()) {
    row.state = SpecState::missing;
  } else if (row.spec_version.empty()) {
    row.state = SpecState::no_driver;
  } else if (!module_version.empty() && row.spec_version != module_version) {
    row.state = SpecState::old_version;
  } else {
    row.state = SpecState::current;
  }
  return row;
}

}  // namespace ctkit::cdi
