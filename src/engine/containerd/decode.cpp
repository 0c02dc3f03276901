#include "engine/containerd/decode.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>
#include <vector>

#include "engine/containerd/go_fields.h"
#include "engine/go_duration.h"

namespace ctkit::engine::containerd {

namespace {

std::string_view wanted(const Type& type) {
  switch (type.kind) {
    case Kind::table:
    case Kind::map:
      return "a table";
    case Kind::array:
      return "an array";
    case Kind::any:
      return "any value";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
    case Kind::duration_int:
      return "an integer";
    case Kind::floating:
      return "a float";
    case Kind::string:
      return "a string";
    case Kind::duration_text:
      return "a duration such as \"10s\"";
  }
  assert(false);
  return "";
}

Error mismatch(const Type& type, const Value& value, const PathNode& path, ErrorCode code = ErrorCode::daemon_refuses) {
  return {.code = code,
          .message = "'" + path.key_path().to_string() + "' wants " + std::string(wanted(type)) + ", not " +
                     std::string(type_name(value)),
          .where = value.origin.to_string()};
}

/// All elements are tables, and there is at least one: printed as [[…]], read back one by one.
bool is_array_of_tables(const Value& value) {
  const Array* array = value.array();
  return array && !array->empty() &&
         std::ranges::all_of(*array, [](const Value& item) { return item.table() != nullptr; });
}

/// A scalar's text as a Go type with UnmarshalText gets it: fmt.Sprint of it in go-toml 1, the
/// token in go-toml 2. The only float that is then a duration is go-toml 1's "0".
std::string scalar_text(const Value& value, bool one) {
  if (const bool* boolean = value.boolean()) return *boolean ? "true" : "false";
  if (const auto* integer = value.integer()) return std::to_string(*integer);
  if (const auto* big = std::get_if<std::uint64_t>(&value.data)) return std::to_string(*big);
  if (const auto* floating = std::get_if<double>(&value.data)) {
    return one && *floating == 0.0 ? "0" : "a float";
  }
  if (const auto* date = std::get_if<DateTime>(&value.data)) return date->text;
  return value.string() ? *value.string() : "";
}

/// One decoding of one section: the rules of both libraries over one walk.
class Decoder {
 public:
  explicit Decoder(const DecodeContext& context)
      : context_(context), one_(context.regime->decoding == Decoding::go_toml_1) {}

  Result<void> decode(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    switch (type.kind) {
      case Kind::table:
        return decode_struct(type, value, slot, path);
      case Kind::map:
        return decode_map(type, value, slot, path);
      case Kind::array:
        return decode_array(type, value, slot, path);
      case Kind::any:
        return decode_any(type, value, slot, path);
      default:
        return decode_scalar(type, value, slot, path);
    }
  }

 private:
  void set(Slot& slot, Value value, const PathNode& path) const {
    if (slot) context_.transcript->replaced(path, *slot, value);
    slot = std::move(value);
  }

  Result<void> decode_struct(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    const Table* table = value.table();
    if (!table) {
      // An element of an array given as a scalar, a struct given as one.
      return std::unexpected(mismatch(type, value, path));
    }
    if (!slot && type.pointer && table->empty() && !one_ && !context_.regime->empty_tables_allocate) return {};
    if (!slot) {
      Type plain = type;
      plain.pointer = false;
      slot = zero(plain);
    }
    Table* members = slot->table();
    if (one_) return decode_members_1(type, *table, *members, path);
    slot->origin = value.origin;
    return decode_members_2(type, *table, *members, path);
  }

  Result<void> decode_members_1(const Type& type, const Table& table, Table& members, const PathNode& path) const {
    if (auto done = decode_fields_1(type, table, members, path); !done) return done;
    if (context_.transcript->wanted()) {
      for (const auto& [key, value] : table) {
        if (!is_read(type, table, key)) context_.transcript->unread({&path, key}, value);
      }
    }
    return {};
  }

  Result<void> decode_fields_1(const Type& type, const Table& table, Table& members, const PathNode& path) const {
    for (const Type& field : type.fields) {
      const Value* value = find_member(table, field.name);
      if (!value && field.embedded) {
        Table* embedded = members.at(std::string(field.name)).table();
        if (auto done = decode_fields_1(field, table, *embedded, {&path, field.name}); !done) return done;
      }
      if (!value) continue;
      if (auto done = decode_member(field, *value, members, path); !done) return done;
    }
    return {};
  }

  Result<void> decode_members_2(const Type& type, const Table& table, Table& members, const PathNode& path) const {
    for (const auto* entry : met_order(table)) {
      const Type* field = find_field(type, entry->first);
      if (!field) {
        unknown(entry->first, entry->second, path);
        continue;
      }
      if (auto done = decode_member(*field, entry->second, members, path); !done) return done;
    }
    return {};
  }

  /// The members in the order go-toml 2 meets them.
  [[nodiscard]] std::vector<const Table::value_type*> met_order(const Table& table) const {
    std::vector<const Table::value_type*> order;
    order.reserve(table.size());
    for (const auto& entry : table)
      order.push_back(&entry);
    if (context_.in_file_order) {
      std::ranges::stable_sort(order, {}, [](const Table::value_type* entry) {
        const Origin& origin = entry->second.origin;
        return std::pair(origin.line, origin.column);
      });
    } else {
      std::ranges::stable_sort(order, {}, [](const Table::value_type* entry) {
        return entry->second.table() != nullptr || is_array_of_tables(entry->second);
      });
    }
    return order;
  }

  void unknown(std::string_view key, const Value& value, const PathNode& path) const {
    const PathNode here{&path, key};
    context_.transcript->unread(here, value);
    context_.diagnostics->push_back({.severity = Severity::warning,
                                     .message = "nothing reads '" + here.key_path().to_string() + "'",
                                     .origin = value.origin});
  }

  Result<void> decode_member(const Type& field, const Value& value, Table& members, const PathNode& path) const {
    const PathNode here{&path, field.name};
    Slot slot;
    const auto found = members.find(field.name);
    if (found != members.end()) slot = std::move(found->second);
    auto done = decode(field, value, slot, here);
    if (!done) return done;
    if (slot) members.insert_or_assign(std::string(field.name), *std::move(slot));
    return {};
  }

  Result<void> decode_map(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    const Table* table = value.table();
    if (!table) return std::unexpected(mismatch(type, value, path));
    if (one_) {
      Slot built{Value{.data = Table{}, .origin = value.origin}};
      if (auto done = decode_entries(*type.element, *table, *built->table(), path); !done) return done;
      if (slot) context_.transcript->replaced(path, *slot, *built);
      slot = std::move(built);
      return {};
    }
    if (!slot && table->empty()) return {};
    if (!slot) slot = Value{.data = Table{}};
    slot->origin = value.origin;
    return decode_entries(*type.element, *table, *slot->table(), path);
  }

  Result<void> decode_entries(const Type& element, const Table& table, Table& entries, const PathNode& path) const {
    for (const auto* entry : met_order(table)) {
      const auto& [key, value] = *entry;
      Slot slot;
      if (const auto found = entries.find(key); found != entries.end()) {
        slot = std::move(found->second);
      } else if (element.kind == Kind::table) {
        slot = zero(element);
      }
      auto done = decode(element, value, slot, {&path, key});
      if (!done) return done;
      if (!slot) slot = zero(element);
      if (!slot) continue;
      if (element.kind == Kind::table || element.kind == Kind::map) slot->origin = value.origin;
      entries.insert_or_assign(key, *std::move(slot));
    }
    return {};
  }

  Result<void> decode_array(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    const Array* array = value.array();
    if (!array) {
      if (!one_ && value.table()) return table_for_array(type, value, slot, path);
      return std::unexpected(mismatch(type, value, path));
    }
    const bool of_tables = type.element->kind == Kind::table || type.element->kind == Kind::map;
    if (one_ && of_tables != is_array_of_tables(value)) {
      return std::unexpected(mismatch(type, value, path));
    }
    Value built{.data = Array{}, .origin = value.origin};
    for (const Value& item : *array) {
      Slot element = zero(*type.element);
      if (auto done = decode(*type.element, item, element, path); !done) return done;
      if (element) std::get<Array>(built.data).push_back(*std::move(element));
    }
    set(slot, std::move(built), path);
    return {};
  }

  /// go-toml 2 handleTable: a table header on a slice goes to its last element.
  Result<void> table_for_array(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    Array* array = slot ? std::get_if<Array>(&slot->data) : nullptr;
    if (!array || array->empty()) return std::unexpected(mismatch(type, value, path));
    Slot last = std::move(array->back());
    auto done = decode(*type.element, value, last, path);
    array->back() = *std::move(last);
    return done;
  }

  Result<void> decode_any(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    const bool was_table = slot && slot->table();
    if (one_ || !slot || (!value.table() && !is_array_of_tables(value))) {
      set(slot, value, path);
      return {};
    }
    if (value.table() && was_table) return decode_entries(type, *value.table(), *slot->table(), path);
    // A table, or tables, where the daemon's variable already holds something else: go-toml 2.4
    // makes a new one.
    if (context_.regime->replaces_held_values) {
      set(slot, value, path);
      return {};
    }
    return std::unexpected(Error{.code = ErrorCode::daemon_refuses,
                                 .message = "'" + path.key_path().to_string() + "' holds " +
                                            std::string(type_name(*slot)) + " and cannot become " +
                                            std::string(type_name(value)),
                                 .where = value.origin.to_string()});
  }

  Result<void> decode_scalar(const Type& type, const Value& value, Slot& slot, const PathNode& path) const {
    if (!one_ && value.table() && value.table()->empty() && !context_.regime->integer_durations) {
      return {};
    }
    auto data = convert(type, value, path);
    if (!data) return std::unexpected(data.error());
    set(slot, {.data = *std::move(data), .origin = value.origin}, path);
    return {};
  }

  [[nodiscard]] Result<Value::Data> convert(const Type& type, const Value& value, const PathNode& path) const {
    switch (type.kind) {
      case Kind::boolean:
        if (value.boolean()) return value.data;
        break;
      case Kind::duration_int:
        if (one_ && value.string()) return duration(*value.string(), value, path);
        [[fallthrough]];
      case Kind::integer:
        if (value.integer()) return value.data;
        // reflect's Convert wraps what doesn't fit.
        if (const auto* big = std::get_if<std::uint64_t>(&value.data); one_ && big) {
          return static_cast<std::int64_t>(*big);
        }
        break;
      case Kind::floating:
        if (std::holds_alternative<double>(value.data)) return value.data;
        if (value.integer() && !one_) return static_cast<double>(*value.integer());
        if (const auto* big = std::get_if<std::uint64_t>(&value.data); one_ && big) {
          return static_cast<double>(*big);
        }
        break;
      case Kind::string:
        if (value.string()) return value.data;
        break;
      case Kind::duration_text:
        if (value.table() || value.array()) break;
        if (context_.regime->integer_durations && value.integer()) {
          return render_duration(*value.integer());
        }
        if (auto nanoseconds = duration(scalar_text(value, one_), value, path)) {
          return render_duration(std::get<std::int64_t>(*nanoseconds));
        } else {
          return nanoseconds;
        }
      default:
        assert(false);
    }
    return std::unexpected(mismatch(type, value, path));
  }

  static Result<Value::Data> duration(std::string_view text, const Value& value, const PathNode& path) {
    if (const auto nanoseconds = parse_duration(text)) return *nanoseconds;
    return std::unexpected(
        Error{.code = ErrorCode::daemon_refuses,
              .message = "'" + path.key_path().to_string() + "' wants a duration, not '" + std::string(text) + "'",
              .where = value.origin.to_string(),
              .hint = "a number with a unit, such as \"10s\" or \"1h30m\""});
  }

  const DecodeContext& context_;
  bool one_;
};

bool is_empty(const Value& value) {
  struct Empty {
    bool operator()(bool item) const { return !item; }
    bool operator()(std::int64_t item) const { return item == 0; }
    bool operator()(std::uint64_t item) const { return item == 0; }
    bool operator()(double item) const { return item == 0.0; }
    bool operator()(const std::string& item) const { return item.empty(); }
    bool operator()(const DateTime&) const { return false; }
    bool operator()(const Array& item) const { return item.empty(); }
    bool operator()(const Table& item) const {
      return std::ranges::all_of(item, [](const auto& entry) { return is_empty(entry.second); });
    }
  };
  return std::visit(Empty{}, value.data);
}

}  // namespace

Result<void> decode(
    const Type& type, const Value& value, Slot& slot, const PathNode& path, const DecodeContext& context) {
  return Decoder(context).decode(type, value, slot, path);
}

Slot printed(const Type& type, const Slot& slot, const Regime& regime) {
  const bool one = regime.decoding == Decoding::go_toml_1;
  if (!slot) {
    if (one && !type.pointer && (type.kind == Kind::map)) return Value{.data = Table{}};
    return std::nullopt;
  }
  switch (type.kind) {
    case Kind::table: {
      Value result{.data = Table{}, .origin = slot->origin};
      Table& members = *result.table();
      for (const Type& field : type.fields) {
        const Value* member = find(*slot->table(), field.name);
        Slot out = printed(field, member ? Slot(*member) : std::nullopt, regime);
        if (!out || (field.omit_empty && is_empty(*out))) continue;
        members.emplace(field.name, *std::move(out));
      }
      return result;
    }
    case Kind::map: {
      Value result{.data = Table{}, .origin = slot->origin};
      for (const auto& [key, entry] : *slot->table()) {
        if (Slot out = printed(*type.element, entry, regime)) {
          result.table()->emplace(key, *std::move(out));
        }
      }
      return result;
    }
    case Kind::array: {
      Value result{.data = Array{}, .origin = slot->origin};
      for (const Value& item : *slot->array()) {
        if (Slot out = printed(*type.element, item, regime)) {
          std::get<Array>(result.data).push_back(*std::move(out));
        }
      }
      return result;
    }
    case Kind::duration_int:
      if (one && slot->integer()) {
        return Value{.data = render_duration(*slot->integer()), .origin = slot->origin};
      }
      return slot;
    default:
      return slot;
  }
}

}  // namespace ctkit::engine::containerd
