#include "engine/crio/hook.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "engine/crio/handlers.h"
#include "engine/quoted_list.h"

namespace ctkit::engine::crio {

namespace {

constexpr std::string_view kUsualFolder = "/usr/share/containers/oci/hooks.d";
constexpr std::array<std::string_view, 6> kPath = {
    "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
constexpr std::string_view kPathKey = "\"path\": ";

std::string quoted(std::string_view text) {
  std::string literal = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') literal += '\\';
    literal += letter;
  }
  return literal + '"';
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  return path;
}

std::vector<std::string> hook_folders(const EffectiveConfig& config) {
  std::vector<std::string> folders;
  const Table* runtime = runtime_table(config.config);
  const Value* list = runtime ? find(*runtime, "hooks_dir") : nullptr;
  if (!list || !list->array()) return folders;
  for (const Value& item : *list->array()) {
    if (item.string()) folders.push_back(without_slashes(*item.string()));
  }
  return folders;
}

Error refusal(std::string message, std::string where, std::string hint) {
  return {.code = ErrorCode::needs_decision,
          .message = std::move(message),
          .where = std::move(where),
          .hint = std::move(hint)};
}

/// Where the hook has to be.
Result<std::string> choose_folder(const Hook& hook, const std::vector<std::string>& folders) {
  if (folders.empty()) {
    return std::unexpected(refusal(
        "the effective hooks_dir is empty: CRI-O runs no hooks", "", "name a folder in [crio.runtime] hooks_dir"));
  }
  const auto has = [&](std::string_view folder) { return std::ranges::find(folders, folder) != folders.end(); };
  if (hook.folder.empty()) return has(kUsualFolder) ? std::string(kUsualFolder) : folders.back();
  std::string folder = without_slashes(hook.folder);
  if (has(folder)) return folder;
  return std::unexpected(refusal(
      "CRI-O reads no hooks in '" + folder + "'; its hooks_dir is " + (folders.empty() ? "none" : quoted_list(folders)),
      folder,
      "leave the folder out, or add it to [crio.runtime] hooks_dir and restart CRI-O"));
}

}  // namespace

std::string render_hook(const std::string& program) {
  const std::size_t slash = program.rfind('/');
  const std::string folder = program.substr(0, slash);
  std::string path;
  for (const std::string_view part : kPath)
    path += (path.empty() ? "PATH=" : ":") + std::string(part);
  if (std::ranges::find(kPath, folder) == kPath.end()) path += ":" + folder;
  return "{\n  \"version\": \"1.0.0\",\n  \"hook\": {\n    " + std::string(kPathKey) + quoted(program) +
         ",\n    \"args\": [\n      " + quoted(program.substr(slash + 1)) +
         ",\n      \"prestart\"\n    ],\n    \"env\": [\n      " + quoted(path) +
         "\n    ]\n  },\n  \"when\": {\n    \"always\": true,\n    \"commands\": [\n      \".*\"\n    ]\n  },\n"
         "  \"stages\": [\n    \"prestart\"\n  ]\n}\n";
}

Result<std::vector<Candidate>> make_hook_candidates(const Hook& hook,
                                                    const FileReader& files,
                                                    const EffectiveConfig& bare) {
  const std::vector<std::string> folders = hook_folders(bare);
  const auto folder = choose_folder(hook, folders);
  if (!folder) return std::unexpected(folder.error());
  if (files.exists(*folder) && !files.list(*folder)) {
    return std::unexpected(
        refusal("'" + *folder + "' is no folder, and CRI-O leaves it out", *folder, "move what is there away"));
  }
  for (auto later = std::ranges::find(folders, *folder) + 1; later != folders.end(); ++later) {
    const std::string other = *later + "/" + hook.name;
    if (*later == *folder || !files.exists(other)) continue;
    return std::unexpected(refusal("'" + other + "' has the name of our hook, and CRI-O prefers it",
                                   other,
                                   "remove it, or give the hook another name"));
  }
  FileChange file{.path = *folder + "/" + hook.name};
  auto text = files.read(file.path);
  if (text) {
    file.before = *std::move(text);
  } else if (text.error().code != ErrorCode::not_found) {
    return std::unexpected(text.error());
  }
  file.after = render_hook(hook.program);
  Candidate candidate{.approach = "'" + file.path + "', NVIDIA's OCI hook for every container; no handlers"};
  candidate.files.push_back(std::move(file));
  return std::vector<Candidate>{std::move(candidate)};
}

std::optional<std::string> undo_hook(const FileChange& ours, const std::string& text) {
  const std::size_t key = ours.after ? ours.after->find(kPathKey) : std::string::npos;
  if (key == std::string::npos) return text;
  const std::size_t begin = key + kPathKey.size();
  const std::string program = ours.after->substr(begin, ours.after->find(",\n", begin) - begin);
  return text.contains(program) ? std::nullopt : std::optional(text);
}

}  // namespace ctkit::engine::crio
