#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ctkit::engine::containerd {

/// The text as a TOML string of one line. In single quotes if that is wished and the text allows
/// it, else in double ones.
std::string make_literal(std::string_view text, char wished_quote);

/// What a TOML string of one line says; nothing for anything else.
std::optional<std::string> parse_literal(std::string_view literal);

}  // namespace ctkit::engine::containerd
