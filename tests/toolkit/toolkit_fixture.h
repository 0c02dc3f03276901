#pragma once

#include <string>
#include <string_view>

#include "support/memory_tree.h"
#include "toolkit/install_toolkit.h"

namespace ctkit::test {

inline constexpr std::string_view kDebArtifacts = "/artifacts/deb";

/// Artifacts as NVIDIA's image has them, each file with its name and the release as content.
inline void add_artifacts(MemoryTree& tree, const std::string& root, const std::string& release) {
  for (const std::string name : {"libnvidia-container", "libnvidia-container-go"}) {
    const std::string file = name + ".so." + release;
    tree.add_file(root + "/usr/lib/x86_64-linux-gnu/" + file, name + " " + release);
    tree.add_link(root + "/usr/lib/x86_64-linux-gnu/" + name + ".so.1", file);
  }
  for (const std::string name : {"nvidia-ctk",
                                 "nvidia-container-runtime",
                                 "nvidia-container-runtime.cdi",
                                 "nvidia-container-runtime.legacy",
                                 "nvidia-container-cli",
                                 "nvidia-container-runtime-hook",
                                 "nvidia-cdi-hook"}) {
    tree.add_file(root + "/usr/bin/" + name, name + " " + release, 0755);
  }
}

/// A node and our own files, to install from one onto the other.
struct ToolkitNode {
  MemoryTree source = {};
  MemoryTree tree = {};
  MemoryWriter writer{source, tree};
  FakePrograms programs = {};
  toolkit::InstallHost host{.source = source, .tree = tree, .writer = writer, .programs = programs};
  toolkit::InstallRequest request{.source_root = std::string(kDebArtifacts)};

  explicit ToolkitNode(const std::string& release = "1.20.0") { add_artifacts(source, request.source_root, release); }

  /// The artifacts are now of that release.
  void update(const std::string& release) {
    std::erase_if(source.nodes(), [](const auto& node) { return node.first != "/"; });
    add_artifacts(source, request.source_root, release);
  }

  /// What a stock installer leaves.
  void lay_stock_toolkit() {
    const std::string folder = "/usr/local/nvidia/toolkit/";
    for (const std::string name : {"nvidia-container-runtime", "nvidia-ctk", "nvidia-cdi-hook"}) {
      tree.add_file(folder + name, "#!/bin/sh\nstock " + name, 0755);
      tree.add_file(folder + name + ".real", name + " stock", 0755);
    }
    tree.add_file(
        folder + ".config/nvidia-container-runtime/config.toml",
        "disable-require = true\n\n[features]\n  theirs = true\n\n[nvidia-container-cli]\n  root = \"/old\"\n");
  }
};

}  // namespace ctkit::test
