#include "engine/crio/decode.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/go_duration.h"
#include "engine/letter_case.h"

namespace ctkit::engine::crio {

namespace {

/// As Go's strings.EqualFold: two letters beyond ASCII are the same as one in ASCII.
constexpr std::array<FoldedLetter, 2> kEqualFold = {{{"\u017f", 's'}, {"\u212a", 'k'}}};

std::string_view wanted(Kind kind) {
  switch (kind) {
    case Kind::table:
    case Kind::handlers:
    case Kind::text_map:
      return "a table";
    case Kind::texts:
      return "an array of strings";
    case Kind::text:
      return "a string";
    case Kind::boolean:
      return "a boolean";
    case Kind::integer:
    case Kind::unsigned_integer:
      return "an integer";
    case Kind::duration:
      return "a duration, \"10s\" or nanoseconds";
  }
  assert(false);
  return "";
}

Error mismatch(const PathNode& path, const Value& value, std::string_view want) {
  return {.code = ErrorCode::daemon_refuses,
          .message = "'" + path.key_path().to_string() + "' wants " + std::string(want) + ", not a value of type " +
                     std::string(type_name(value)),
          .where = value.origin.to_string(),
          .hint = "CRI-O converts nothing; write it as the key's own type"};
}

/// A scalar or list as the daemon holds it; nothing: it is refused.
std::optional<Value> converted(Kind kind, const Value& value) {
  switch (kind) {
    case Kind::text:
      return value.string() ? std::optional(value) : std::nullopt;
    case Kind::boolean:
      return value.boolean() ? std::optional(value) : std::nullopt;
    case Kind::integer:
      return value.integer() ? std::optional(value) : std::nullopt;
    case Kind::unsigned_integer: {
      // Go's conversion: a negative number becomes a large one.
      if (!value.integer()) return std::nullopt;
      if (*value.integer() >= 0) return value;
      return Value{.data = static_cast<std::uint64_t>(*value.integer()), .origin = value.origin};
    }
    case Kind::duration: {
      const auto nanoseconds = value.string()    ? parse_duration(*value.string())
                               : value.integer() ? std::optional(*value.integer())
                                                 : std::nullopt;
      if (!nanoseconds) return std::nullopt;
      return Value{.data = render_duration(*nanoseconds), .origin = value.origin};
    }
    case Kind::texts:
      if (!value.array()) return std::nullopt;
      return std::ranges::all_of(*value.array(), [](const Value& item) { return item.string() != nullptr; })
                 ? std::optional(value)
                 : std::nullopt;
    case Kind::table:
    case Kind::handlers:
    case Kind::text_map:
      break;
  }
  assert(false);
  return std::nullopt;
}

Value zero(Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return {.data = false};
    case Kind::integer:
    case Kind::unsigned_integer:
      return {.data = std::int64_t{0}};
    case Kind::texts:
      return {.data = Array{}};
    case Kind::table:
    case Kind::handlers:
    case Kind::text_map:
      return {.data = Table{}};
    case Kind::text:
      return {.data = std::string()};
    case Kind::duration:
      return {.data = std::string("0s")};
  }
  assert(false);
  return {};
}

/// A written key with its type, in the order of the file.
struct Member {
  const Key* key = nullptr;
  const std::string* written = nullptr;
  const Value* value = nullptr;
};

class Decoder {
 public:
  explicit Decoder(const DecodeContext& context) : context_(context) {}

  Result<void> members(const Key& type, const Table& file, Table& config, const PathNode& path) {
    std::map<const Key*, const Member*> seen;
    const std::vector<Member> in_order = known_members(type, file, path);
    for (const Member& member : in_order) {
      const PathNode here{&path, member.key->name};
      const auto [first, is_new] = seen.emplace(member.key, &member);
      if (!is_new) say_ambiguous(*first->second, member, here);
      if (auto done = this->member(member, config, here); !done) return done;
    }
    return {};
  }

 private:
  std::vector<Member> known_members(const Key& type, const Table& file, const PathNode& path) const {
    std::vector<Member> members;
    for (const auto& [written, value] : file) {
      if (const Key* key = find_key(type, written, *context_.known)) {
        members.push_back({key, &written, &value});
      } else {
        context_.transcript->unread({&path, written}, value);
      }
    }
    std::ranges::sort(members, {}, [](const Member& member) {
      return std::tuple(member.value->origin.line, member.value->origin.column);
    });
    return members;
  }

  void say_ambiguous(const Member& first, const Member& second, const PathNode& path) const {
    Diagnostic diagnostic;
    diagnostic.message = "'" + *first.written + "' and '" + *second.written + "' are the same key '" +
                         path.key_path().to_string() + "', and CRI-O takes either of them, another at each start";
    diagnostic.origin = second.value->origin;
    diagnostic.hint = "keep one of them (the other stands at " + first.value->origin.to_string() + ")";
    context_.diagnostics->push_back(std::move(diagnostic));
  }

  Result<void> member(const Member& member, Table& config, const PathNode& path) {
    const Value& value = *member.value;
    switch (member.key->kind) {
      case Kind::table:
        if (!value.table()) return std::unexpected(mismatch(path, value, "a table"));
        return members(*member.key, *value.table(), table_in(config, path.part, value.origin), path);
      case Kind::handlers:
        return entries(*member.key, value, config, path);
      case Kind::text_map:
        return texts(value, config, path);
      case Kind::texts:
      case Kind::text:
      case Kind::boolean:
      case Kind::integer:
      case Kind::unsigned_integer:
      case Kind::duration:
        break;
    }
    auto read = converted(member.key->kind, value);
    if (!read) return std::unexpected(mismatch(path, value, wanted(member.key->kind)));
    put(config, path, *std::move(read));
    return {};
  }

  Result<void> entries(const Key& type, const Value& value, Table& config, const PathNode& path) {
    if (!value.table()) {
      context_.transcript->unread(path, value);
      return {};
    }
    Table& present = table_in(config, path.part, value.origin);
    for (const auto& [name, entry] : *value.table()) {
      const PathNode here{&path, name};
      if (!entry.table()) return std::unexpected(mismatch(here, entry, "a table"));
      Value fresh{.data = Table{}, .origin = entry.origin};
      if (auto done = members(type, *entry.table(), *fresh.table(), here); !done) return done;
      // What the file does not say is lost even where it is printed at its zero value.
      if (const Value* old = find(present, name)) context_.transcript->replaced(here, *old, fresh);
      for (const Key& member : type.keys) {
        if (member.always_there && context_.known->has(member.releases))
          fresh.table()->try_emplace(std::string(member.name), zero(member.kind));
      }
      present.insert_or_assign(name, std::move(fresh));
    }
    return {};
  }

  Result<void> texts(const Value& value, Table& config, const PathNode& path) {
    if (!value.table()) {
      context_.transcript->unread(path, value);
      return {};
    }
    Table& present = table_in(config, path.part, value.origin);
    for (const auto& [name, text] : *value.table()) {
      const PathNode here{&path, name};
      if (!text.string()) return std::unexpected(mismatch(here, text, "a string"));
      put(present, here, text);
    }
    return {};
  }

  void put(Table& config, const PathNode& path, Value value) const {
    const auto [entry, is_new] = config.try_emplace(std::string(path.part));
    if (!is_new) context_.transcript->replaced(path, entry->second, value);
    entry->second = std::move(value);
  }

  static Table& table_in(Table& config, std::string_view key, const Origin& origin) {
    const auto [entry, is_new] = config.try_emplace(std::string(key));
    if (is_new) entry->second.origin = origin;
    if (!entry->second.table()) entry->second.data = Table{};
    return *entry->second.table();
  }

  const DecodeContext& context_;
};

}  // namespace

bool same_key(std::string_view left, std::string_view right) {
  return left == right || folded(left, kEqualFold) == folded(right, kEqualFold);
}

const Key* find_key(const Key& table, std::string_view written, const Known& known) {
  const Key* found = nullptr;
  for (const Key& key : table.keys) {
    if (!known.has(key.releases)) continue;
    if (key.name == written) return &key;
    if (!found && same_key(key.name, written)) found = &key;
  }
  return found;
}

Result<void> decode(
    const Key& type, const Table& file, Table& config, const PathNode& path, const DecodeContext& context) {
  return Decoder(context).members(type, file, config, path);
}

}  // namespace ctkit::engine::crio
