#include "engine/toml_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "engine/key_path.h"

namespace ctkit::engine {

namespace {

bool is_array_of_tables(const Value& value) {
  const Array* array = value.array();
  return array && !array->empty() &&
         std::ranges::all_of(*array, [](const Value& item) { return item.table() != nullptr; });
}

bool is_control(char c) {
  return c == 0x7f || static_cast<unsigned char>(c) < 0x20;
}

/// Whether the key, in double quotes, has escapes.
bool has_escapes(std::string_view key) {
  return key.find_first_of("\"\\") != std::string_view::npos || std::ranges::any_of(key, is_control);
}

/// Whether single quotes can hold it.
bool can_be_literal(std::string_view key) {
  return !key.contains('\'') && std::ranges::none_of(key, is_control);
}

/// A key that every library reads back where escapes are read.
std::string written_key(std::string_view key) {
  return has_escapes(key) && can_be_literal(key) ? "'" + std::string(key) + "'" : quote_key(key);
}

/// Whether the value gets a header. go-toml 1 ends a header at the first bracket, within quotes too, and takes what is
/// between the quotes as it stands, escapes included: what is under such a key stands on one line.
bool has_header(std::string_view key, const Value& value) {
  return (value.table() || is_array_of_tables(value)) && key.find_first_of("[]") == std::string_view::npos &&
         (!has_escapes(key) || can_be_literal(key));
}

/// Always with a point or an exponent, so that it stays a float.
std::string render_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

struct Render {
  std::string operator()(bool item) const { return item ? "true" : "false"; }
  std::string operator()(std::int64_t item) const { return std::to_string(item); }
  std::string operator()(std::uint64_t item) const { return std::to_string(item); }
  std::string operator()(double item) const { return render_float(item); }
  std::string operator()(const std::string& item) const { return quote_string(item); }
  std::string operator()(const DateTime& item) const { return item.text; }
  std::string operator()(const Array& item) const {
    std::string text = "[";
    for (const Value& element : item) {
      if (text.size() > 1) text += ", ";
      text += render_value(element);
    }
    return text + "]";
  }
  std::string operator()(const Table& item) const {
    if (item.empty()) return "{}";
    std::string text = "{ ";
    for (const auto& [key, child] : item) {
      if (text.size() > 2) text += ", ";
      text += written_key(key) + " = " + render_value(child);
    }
    return text + " }";
  }
};

void render_into(std::string& text, const Table& table, const std::string& prefix);

void render_child(std::string& text, const std::string& path, const Value& value) {
  const auto header = [&](std::string_view open, std::string_view close) {
    if (!text.empty()) text += "\n";
    text += std::string(open) + path + std::string(close) + "\n";
  };
  if (const Table* table = value.table()) {
    const bool only_tables = !table->empty() && std::ranges::all_of(*table, [](const auto& entry) {
      return has_header(entry.first, entry.second);
    });
    if (!only_tables) header("[", "]");
    render_into(text, *table, path + ".");
    return;
  }
  for (const Value& item : *value.array()) {
    header("[[", "]]");
    render_into(text, *item.table(), path + ".");
  }
}

void render_into(std::string& text, const Table& table, const std::string& prefix) {
  for (const auto& [key, value] : table) {
    if (has_header(key, value)) continue;
    text += written_key(key) + " = " + render_value(value) + "\n";
  }
  for (const auto& [key, value] : table) {
    if (has_header(key, value)) render_child(text, prefix + written_key(key), value);
  }
}

}  // namespace

std::string quote_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
      case '\\':
        quoted += {'\\', c};
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

std::string render_value(const Value& value) {
  return std::visit(Render{}, value.data);
}

std::string render_toml(const Table& table) {
  std::string text;
  render_into(text, table, "");
  return text;
}

}  // namespace ctkit::engine
