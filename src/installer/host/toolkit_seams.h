#pragma once

#include <memory>
#include <string>

#include "engine/result.h"
#include "installer/host/posix_tree.h"
#include "installer/host/posix_tree_writer.h"
#include "installer/host/proc_programs.h"
#include "installer/host/root_folder.h"
#include "toolkit/install_toolkit.h"

namespace ctkit::installer::host {

/// The real seams of an installation of the toolkit.
struct ToolkitSeams {
  std::unique_ptr<PosixTree> source = {};
  std::unique_ptr<PosixTree> tree = {};
  std::unique_ptr<PosixTreeWriter> writer = {};
  std::unique_ptr<ProcPrograms> programs = {};

  [[nodiscard]] toolkit::InstallHost host() const {
    return {.source = *source, .tree = *tree, .writer = *writer, .programs = *programs};
  }
};

/// `source`: the root that artifacts are below, ours as a rule; `root`: the one that the install folder is below, in
/// the operator's container ours too, for it is mounted there under the host's path; `host`: where the host itself is
/// seen, whose mounts count for what runs there (a container's own mounts need not have their flags).
inline engine::Result<ToolkitSeams> open_toolkit_seams(const std::string& source,
                                                       const std::string& root,
                                                       const std::string& host) {
  ToolkitSeams seams;
  auto from = PosixTree::open(source);
  if (!from) return std::unexpected(from.error());
  auto tree = PosixTree::open(root);
  if (!tree) return std::unexpected(tree.error());
  auto writer = PosixTreeWriter::open(source, root);
  if (!writer) return std::unexpected(writer.error());
  auto folder = RootFolder::open(host);
  if (!folder) return std::unexpected(folder.error());
  seams.source = *std::move(from);
  seams.tree = *std::move(tree);
  seams.writer = *std::move(writer);
  seams.programs = std::make_unique<ProcPrograms>(*std::move(folder));
  return seams;
}

}  // namespace ctkit::installer::host
