#pragma once

#include <string>
#include <string_view>

#include "engine/key_path.h"
#include "engine/value.h"

namespace ctkit::installer {

/// Whether a key holds a credential: registry passwords and tokens, authorisation headers.
bool is_secret(const engine::KeyPath& key);

/// The value as TOML on one line, credentials replaced.
std::string shown(const engine::KeyPath& key, const engine::Value& value);

/// The value with credentials in it replaced.
engine::Value redacted(const engine::KeyPath& key, const engine::Value& value);

/// A whole text with the values of lines that hold credentials replaced, whether it is TOML or not.
std::string redact_lines(std::string_view text);

}  // namespace ctkit::installer
