#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "engine/key_path.h"
#include "engine/origin.h"
#include "engine/value.h"

// Values and places as every JSON report of ours has them.
namespace ctkit::installer {

/// What JSON lacks is {"$float": …} and {"$datetime": …}.
nlohmann::ordered_json to_json(const engine::Value& value);
nlohmann::ordered_json to_json(const engine::Table& table);

/// {file, line, column}; null: built in.
nlohmann::ordered_json to_json(const engine::Origin& origin);

/// The value with credentials replaced.
nlohmann::ordered_json shown_value(const engine::KeyPath& key, const engine::Value& value);

/// A document as we print it; what is no UTF-8 is replaced.
std::string render_json(const nlohmann::ordered_json& document);

}  // namespace ctkit::installer
