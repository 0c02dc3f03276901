#include "toolkit/wrapper.h"

#include "cdi/path.h"
#include "engine/nvidia_runtime.h"
#include "toolkit/places.h"

// Why a script and not a program of our own, as everything else here is:
// - It is what nodes have today (NVIDIA's wrappers are scripts), and who looks for the reason of a failed container can
//   read it, with the paths that matter written out.
// - A program would have to be right for the host's processor and C library, in an image whose artifacts are too; and
//   would need a place for its settings, which a script has in itself.
// - Nodes that the GPU Operator supports have /bin/sh. Nothing else is needed: unlike NVIDIA's, which run cat and grep
//   and stay as the parent of what they start, these use words of the shell only, and `exec`.
// It costs one start of a shell (about a millisecond of the 30 of a container), with one look at /sys.
//
// Paths lead through the toolkit folder's link, not to the version that the script is part of: whoever reads a script
// of a version that is being replaced goes on in the new one, not into a folder that may be on its way out.
//
// The module is looked for in /sys/module, where a driver built into the kernel shows too; /proc/modules has only
// loaded ones.
namespace ctkit::toolkit {

namespace {

bool is_runtime(std::string_view name) {
  return name == "nvidia-container-runtime" || name.starts_with("nvidia-container-runtime.");
}

std::string render_fall_through(std::span<const std::string> low_level_runtimes) {
  std::string text =
      "if [ ! -e /sys/module/nvidia ]; then\n"
      "  for runtime in";
  for (const std::string& runtime : low_level_runtimes) {
    // Whatever the settings say: a wrapper that became a wrapper would do so for ever.
    if (!engine::is_nvidia_runtime(runtime)) text += " " + quote_for_shell(runtime);
  }
  text +=
      "; do\n"
      "    command -v \"$runtime\" >/dev/null 2>&1 || continue\n"
      "    echo \"${0##*/}: the nvidia module is not loaded: running $runtime in its place\" >&2\n"
      "    exec \"$runtime\" \"$@\"\n"
      "  done\n"
      "fi\n";
  return text;
}

}  // namespace

std::string quote_for_shell(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string render_wrapper(std::string_view name,
                           const std::string& toolkit_folder,
                           std::span<const std::string> low_level_runtimes) {
  const std::string folder = quote_for_shell(toolkit_folder);
  const bool runtime = is_runtime(name);
  std::string text = "#!/bin/sh\n";
  if (runtime) text += render_fall_through(low_level_runtimes);
  // An empty part of these lists would be the current folder.
  text += "PATH=" + folder + "${PATH:+:$PATH}\nexport PATH\n";
  if (runtime || name == "nvidia-container-runtime-hook") {
    text += "NVIDIA_CTK_CONFIG_FILE_PATH=" + quote_for_shell(cdi::join(toolkit_folder, kConfigFile)) +
            "\nexport NVIDIA_CTK_CONFIG_FILE_PATH\n";
  }
  if (name == "nvidia-container-cli") {
    text += "LD_LIBRARY_PATH=" + folder + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\nexport LD_LIBRARY_PATH\n";
  }
  return text + "exec " + quote_for_shell(cdi::join(toolkit_folder, std::string(name) + ".real")) + " \"$@\"\n";
}

}  // namespace ctkit::toolkit
