#include "engine/containerd/dump_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/containerd/schema.h"

namespace ctkit::engine::containerd {

namespace {

bool is_tabular(const Value& value) {
  if (value.table()) return true;
  const Array* array = value.array();
  return array && !array->empty() &&
         std::ranges::all_of(*array, [](const Value& item) { return item.table() != nullptr; });
}

bool is_bare(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

std::string double_quoted(std::string_view text, bool escape_del) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '\b':
        quoted += "\\b";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\f':
        quoted += "\\f";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '"':
      case '\\':
        quoted += {'\\', c};
        break;
      default:
        if (static_cast<unsigned char>(c) < (escape_del ? 0x20 : 0x1f) || (escape_del && c == 0x7f)) {
          quoted += fmt::format("\\u{:04X}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + "\"";
}

/// Digits without an exponent: the shortest that read back, or all of an integral value.
std::string plain_float(double value, bool all_digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  if (value == std::trunc(value) && all_digits) return fmt::format("{:.1f}", value);
  std::string text = fmt::format("{}", value);
  const std::size_t exponent = text.find('e');
  if (exponent != std::string::npos) {
    const int power = std::stoi(text.substr(exponent + 1));
    std::string digits = text.substr(0, exponent);
    const bool negative = digits.starts_with('-');
    if (negative) digits.erase(0, 1);
    std::size_t point = digits.find('.');
    if (point == std::string::npos) {
      point = digits.size();
    } else {
      digits.erase(point, 1);
    }
    long at = static_cast<long>(point) + power;
    if (at <= 0) {
      digits.insert(0, static_cast<std::size_t>(1 - at), '0');
      at = 1;
    }
    if (static_cast<std::size_t>(at) > digits.size()) digits.append(static_cast<std::size_t>(at) - digits.size(), '0');
    if (static_cast<std::size_t>(at) < digits.size()) digits.insert(static_cast<std::size_t>(at), ".");
    text = (negative ? "-" : "") + digits;
  }
  if (!text.contains('.')) text += ".0";
  return text;
}

/// go-toml 1's encoder.
class Writer1 {
 public:
  std::string run(const Table& config) {
    table(config, "", 0);
    return std::move(text_);
  }

 private:
  static std::string key(std::string_view part) {
    if (is_bare(part)) return std::string(part);
    std::string quoted = "\"";
    for (const char c : part) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return quoted + "\"";
  }

  static std::string value(const Value& item) {
    if (const bool* boolean = item.boolean()) return *boolean ? "true" : "false";
    if (const auto* integer = item.integer()) return std::to_string(*integer);
    if (const auto* big = std::get_if<std::uint64_t>(&item.data)) return std::to_string(*big);
    if (const auto* floating = std::get_if<double>(&item.data)) {
      return (*floating == std::numeric_limits<double>::infinity() ? "+" : "") + plain_float(*floating, true);
    }
    if (const auto* text = item.string()) return double_quoted(*text, false);
    if (const auto* date = std::get_if<DateTime>(&item.data)) return date->text;
    std::string list = "[";
    if (const Array* array = item.array()) {
      for (const Value& element : *array) {
        if (list.size() > 1) list += ", ";
        list += value(element);
      }
    }
    return list + "]";
  }

  void table(const Table& entries, const std::string& path, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    for (const auto& [name, item] : entries) {
      if (!is_tabular(item)) text_ += indent + key(name) + " = " + value(item) + "\n";
    }
    for (const auto& [name, item] : entries) {
      if (!is_tabular(item)) continue;
      const std::string child = path.empty() ? key(name) : path + "." + key(name);
      if (const Table* below = item.table()) {
        text_ += "\n" + indent + "[" + child + "]\n";
        table(*below, child, depth + 1);
        continue;
      }
      for (const Value& element : *item.array()) {
        text_ += "\n" + indent + "[[" + child + "]]\n";
        table(*element.table(), child, depth + 1);
      }
    }
  }

  std::string text_;
};

/// go-toml 2's encoder, before and after 2.4.
class Writer2 {
 public:
  explicit Writer2(const Known& known) : known_(known), spaced_(known.regime.spaced_headers) {}

  std::string run(const Table& config) {
    table(config, known_.schema->top, "", 0);
    return std::move(text_);
  }

 private:
  struct Entry {
    std::string_view name;
    const Value* value;
    const Type* type;
  };

  [[nodiscard]] std::string quoted(std::string_view text) const {
    const bool special = std::ranges::any_of(text, [&](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && (c != '\t' || spaced_)) || c == '\'' || c == 0x7f;
    });
    return special ? double_quoted(text, true) : "'" + std::string(text) + "'";
  }

  [[nodiscard]] std::string key(std::string_view part) const {
    return is_bare(part) ? std::string(part) : quoted(part);
  }

  [[nodiscard]] std::string value(const Value& item) const {
    if (const bool* boolean = item.boolean()) return *boolean ? "true" : "false";
    if (const auto* integer = item.integer()) return std::to_string(*integer);
    if (const auto* big = std::get_if<std::uint64_t>(&item.data)) return std::to_string(*big);
    if (const auto* floating = std::get_if<double>(&item.data)) return plain_float(*floating, !spaced_);
    if (const auto* text = item.string()) return quoted(*text);
    if (const auto* date = std::get_if<DateTime>(&item.data)) return date->text;
    std::string list;
    if (const Table* below = item.table()) {
      for (const auto& [name, child] : *below) {
        if (!list.empty()) list += ", ";
        list += key(name) + " = " + value(child);
      }
      return "{" + list + "}";
    }
    for (const Value& element : *item.array()) {
      if (!list.empty()) list += ", ";
      list += value(element);
    }
    return "[" + list + "]";
  }

  [[nodiscard]] const Type* plugin_type(std::string_view id) const {
    for (const PluginType& plugin : known_.schema->plugins) {
      if (plugin.id == id) return plugin.type;
    }
    return nullptr;
  }

  /// Members in declaration order, map keys sorted.
  [[nodiscard]] std::vector<Entry> entries(const Table& items, const Type* type, bool plugins) const {
    std::vector<Entry> list;
    if (type && type->kind == Kind::table) {
      for (const Type& field : type->fields) {
        if (const Value* item = find(items, field.name)) list.push_back({field.name, item, &field});
      }
      return list;
    }
    for (const auto& [name, item] : items) {
      const Type* below = plugins ? plugin_type(name)
                          : type  ? (type->kind == Kind::any ? type : type->element)
                                  : nullptr;
      list.push_back({name, &item, below});
    }
    return list;
  }

  void header(const std::string& text, bool blank, const std::string& indent) {
    if (spaced_ ? !text_.empty() && !header_last_ : blank) text_ += "\n";
    text_ += indent + text + "\n";
    header_last_ = true;
  }

  void table(const Table& items, const Type* type, const std::string& path, int depth) {
    const std::string indent(static_cast<std::size_t>(depth) * 2, ' ');
    const std::vector<Entry> list = entries(items, type, path == "plugins");
    bool plain = false;
    for (const Entry& entry : list) {
      if (is_tabular(*entry.value)) continue;
      text_ += indent + key(entry.name) + " = " + value(*entry.value) + "\n";
      plain = true;
      header_last_ = false;
    }
    bool first = true;
    for (const Entry& entry : list) {
      if (!is_tabular(*entry.value)) continue;
      const std::string child = path.empty() ? key(entry.name) : path + "." + key(entry.name);
      if (const Table* below = entry.value->table()) {
        header("[" + child + "]", plain || !first, indent);
        table(*below, entry.type, child, depth + 1);
      } else {
        for (const Value& element : *entry.value->array()) {
          header("[[" + child + "]]", plain || !first || &element != &entry.value->array()->front(), indent);
          table(*element.table(), entry.type ? entry.type->element : nullptr, child, depth + 1);
        }
      }
      first = false;
    }
  }

  const Known& known_;
  bool spaced_;
  bool header_last_ = false;
  std::string text_;
};

}  // namespace

std::string render_dump(const Table& config, const Known& known) {
  if (known.regime.decoding == Decoding::go_toml_1) return Writer1().run(config);
  return Writer2(known).run(config);
}

}  // namespace ctkit::engine::containerd
