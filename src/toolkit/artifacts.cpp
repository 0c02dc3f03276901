#include "toolkit/artifacts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "cdi/path.h"
#include "cdi/real_paths.h"

// Names and places are those of nvidia-container-toolkit v1.20.0 (cmd/nvidia-ctk-installer/toolkit/installer), with
// these differences: everything that is missing is told at once, before anything is touched; the folders are the six
// usual ones and not those of our own PATH; the package type follows the host's tools and not those of our image.
namespace ctkit::toolkit {

using cdi::FileKind;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::string_view kArtifacts = "/artifacts";

constexpr std::array<std::string_view, 3> kLibraryFolders = {
    "usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"};
constexpr std::array<std::string_view, 6> kProgramFolders = {
    "usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin", "sbin", "bin"};

constexpr std::array<std::string_view, 2> kLibraries = {"libnvidia-container.so.1", "libnvidia-container-go.so.1"};
constexpr std::array<std::string_view, 6> kPrograms = {"nvidia-ctk",
                                                       "nvidia-container-runtime",
                                                       "nvidia-container-runtime.cdi",
                                                       "nvidia-container-runtime.legacy",
                                                       "nvidia-container-cli",
                                                       "nvidia-container-runtime-hook"};

bool has(const cdi::Tree& tree, std::string_view path, FileKind kind) {
  const auto status = tree.follow(path);
  return status && status->kind == kind;
}

/// The file in the first folder that has it, at the end of its links.
std::optional<Artifact> find_file(cdi::RealPaths& paths,
                                  std::span<const std::string_view> folders,
                                  std::string_view name) {
  for (const std::string_view folder : folders) {
    const auto real = paths.resolve(cdi::join(cdi::join("/", folder), name));
    if (!real) continue;
    const auto status = paths.tree().look(real->path);
    if (!status || status->kind != FileKind::file) continue;
    return Artifact{.name = std::string(name), .path = real->path, .mode = status->mode};
  }
  return std::nullopt;
}

/// "1.20.0" of "libnvidia-container.so.1.20.0".
std::string version_of(std::string_view library) {
  constexpr std::string_view kMark = ".so.";
  const std::size_t mark = library.find(kMark);
  return mark == std::string_view::npos ? "" : std::string(library.substr(mark + kMark.size()));
}

}  // namespace

Result<PackageType> parse_package_type(std::string_view text) {
  if (text.empty() || text == "auto") return PackageType::automatic;
  if (text == "deb") return PackageType::deb;
  if (text == "rpm") return PackageType::rpm;
  return std::unexpected(Error{.code = ErrorCode::usage,
                               .message = "unknown package type '" + std::string(text) + "'",
                               .hint = "deb, rpm or auto"});
}

Result<std::string> find_source_root(const std::string& given,
                                     PackageType type,
                                     const cdi::Tree& source,
                                     const cdi::Tree& host) {
  const auto is_folder = [&](const std::string& path) { return has(source, path, FileKind::folder); };
  if (!given.empty()) {
    if (is_folder(given)) return cdi::clean(given);
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .message = "the folder of the toolkit's artifacts is not there",
                                 .where = given,
                                 .hint = "--toolkit-source-root names it"});
  }
  if (type == PackageType::automatic) {
    const bool has_rpm = has(host, "/usr/bin/rpm", FileKind::file);
    const bool has_dpkg = has(host, "/usr/bin/dpkg", FileKind::file);
    type = has_rpm && !has_dpkg ? PackageType::rpm : PackageType::deb;
  }
  std::array<std::string, 2> candidates = {cdi::join(kArtifacts, "deb"), cdi::join(kArtifacts, "rpm")};
  if (type == PackageType::rpm) std::ranges::reverse(candidates);
  for (const std::string& candidate : candidates) {
    if (is_folder(candidate)) return candidate;
  }
  return std::unexpected(
      Error{.code = ErrorCode::not_found,
            .message = "there are no artifacts of NVIDIA's toolkit",
            .where = candidates.front(),
            .hint = "take them from NVIDIA's image, and name their folder with --toolkit-source-root"});
}

Result<Artifacts> find_artifacts(const cdi::Tree& source, const std::string& source_root) {
  // Links end inside the artifacts, wherever we keep them.
  const auto root = source.below(source_root);
  if (!root) return std::unexpected(root.error().with_context("opening the artifacts"));
  cdi::RealPaths paths(**root);
  Artifacts artifacts;
  std::string missing;
  const auto miss = [&](std::string_view name) {
    missing += missing.empty() ? "" : ", ";
    missing += name;
  };
  for (const std::string_view name : kLibraries) {
    auto library = find_file(paths, kLibraryFolders, name);
    if (!library) {
      miss(name);
      continue;
    }
    library->link = name;
    library->name = cdi::base_name(library->path);
    if (artifacts.version.empty()) artifacts.version = version_of(library->name);
    artifacts.libraries.push_back(*std::move(library));
  }
  for (const std::string_view name : kPrograms) {
    auto program = find_file(paths, kProgramFolders, name);
    if (program) {
      artifacts.programs.push_back(*std::move(program));
    } else {
      miss(name);
    }
  }
  artifacts.hooks = find_file(paths, kProgramFolders, "nvidia-cdi-hook");
  if (!missing.empty()) {
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .message = "artifacts of the toolkit are missing: " + missing,
                                 .where = source_root,
                                 .hint = "what is installed stays as it is"});
  }
  for (Artifact& library : artifacts.libraries)
    library.path = cdi::clean(source_root + library.path);
  for (Artifact& program : artifacts.programs)
    program.path = cdi::clean(source_root + program.path);
  if (artifacts.hooks) artifacts.hooks->path = cdi::clean(source_root + artifacts.hooks->path);
  return artifacts;
}

}  // namespace ctkit::toolkit
