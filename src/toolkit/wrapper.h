#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ctkit::toolkit {

/// The script that stands under a program's name in the toolkit folder and becomes `<name>.real` beside it, with the
/// environment that the program needs on the host: the toolkit folder first in PATH, the config for the runtimes and
/// the hook, the libraries for nvidia-container-cli. While no nvidia module is loaded a runtime becomes the first of
/// `low_level_runtimes` that is there, so that a node whose default handler is NVIDIA's starts its pods without a
/// driver.
std::string render_wrapper(std::string_view name,
                           const std::string& toolkit_folder,
                           std::span<const std::string> low_level_runtimes);

/// A word that a shell reads back as this text.
std::string quote_for_shell(std::string_view text);

}  // namespace ctkit::toolkit
