#pragma once

#include <optional>
#include <string>
#include <string_view>

// Top-level configs that somebody else renders at each start: an edit there is lost or breaks the
// template.
namespace ctkit::engine::containerd {

/// Whether the text is a Go template: `{{` outside of strings and comments, where no TOML has it.
bool is_template(std::string_view text);

/// Who writes this file anew at each start, as its own comment says: "k3s", "rke2", "k0s", ….
std::optional<std::string> generated_by(std::string_view text);

/// The hint that goes with a refusal: where the distribution takes drop-ins. `owner` is what
/// generated_by said, or empty; then the path tells.
std::string drop_in_hint(std::string_view owner, std::string_view file);

}  // namespace ctkit::engine::containerd
