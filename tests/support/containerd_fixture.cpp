#include "support/containerd_fixture.h"

#include <array>
#include <cstddef>
#include <ranges>

#include <gtest/gtest.h>

#include "engine/key_path.h"
#include "engine/toml_reader.h"
#include "engine/toml_writer.h"

namespace ctkit::test {

using engine::EffectiveConfig;
using engine::ErrorCode;
using engine::Event;
using engine::FileReader;
using engine::KeyPath;
using engine::Result;
using engine::Table;
using engine::Value;
using engine::containerd::Daemon;
using engine::containerd::LoadRequest;
using engine::containerd::Type;

namespace {

struct Short {
  std::string_view word;
  std::string_view id;
};

constexpr std::array<Short, 3> kShort = {{{"OLD", engine::containerd::kCri},
                                          {"RUNTIME", engine::containerd::kRuntime},
                                          {"IMAGES", engine::containerd::kImages}}};

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string section(std::string_view id) {
  return "plugins.\"" + std::string(id) + "\"";
}

KeyPath key_path(std::string_view key) {
  std::string text(key);
  for (const auto& [word, id] : kShort) {
    if (key == word || key.starts_with(std::string(word) + "."))
      text = section(id) + std::string(key.substr(word.size()));
  }
  auto path = KeyPath::parse(text);
  if (path) return *std::move(path);
  ADD_FAILURE() << "no key: " << key;
  return {};
}

std::string shortened(const KeyPath& key) {
  std::string text = key.to_string();
  for (const auto& [word, id] : kShort)
    replace_all(text, section(id), std::string(word));
  return text;
}

std::string_view name_of(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::overridden:
      return "overridden";
    case Event::Kind::erased:
      return "erased";
    case Event::Kind::moved:
      return "moved";
    case Event::Kind::unread:
      return "unread";
  }
  return "";
}

}  // namespace

std::string expand(std::string_view toml) {
  std::string text(toml);
  for (const auto& [word, id] : kShort) {
    for (const std::string_view end : {".", "]"})
      replace_all(text, "[" + std::string(word) + std::string(end), "[" + section(id) + std::string(end));
  }
  return text;
}

Table parse(std::string_view toml, std::string_view file) {
  auto table = engine::read_toml(expand(toml), file, engine::kGoToml22);
  if (table) return *std::move(table);
  ADD_FAILURE() << table.error().where << ": " << table.error().message;
  return {};
}

Host::Host(Texts texts) {
  for (const auto& [path, text] : texts) {
    add_file(path.starts_with('/') ? std::string(path) : "/etc/containerd/" + std::string(path), expand(text));
  }
}

Daemon daemon_of(std::string_view release) {
  const auto parsed = engine::Release::parse(release);
  auto known = engine::containerd::find_release(parsed.value());
  return {.known = std::move(known.value())};
}

const Type& plugin_type(const Daemon& daemon, std::string_view id) {
  for (const auto& plugin : daemon.known.schema->plugins) {
    if (plugin.id == id) return *plugin.type;
  }
  ADD_FAILURE() << "no plugin: " << id;
  static constexpr Type kNone{};
  return kNone;
}

Result<EffectiveConfig> effective_of(std::string_view release, const FileReader& files, const LoadRequest& request) {
  return engine::containerd::effective(daemon_of(release), files, request, true);
}

Result<EffectiveConfig> effective_of(std::string_view release, Texts texts, const LoadRequest& request) {
  return effective_of(release, Host(texts), request);
}

EffectiveConfig loaded(std::string_view release, Texts texts, const LoadRequest& request) {
  auto result = effective_of(release, texts, request);
  if (result) return *std::move(result);
  ADD_FAILURE() << release << " refuses: " << result.error().where << ": " << result.error().message;
  return {};
}

const Value* find_at(const Table& table, std::string_view key) {
  const Table* at = &table;
  const Value* value = nullptr;
  for (const std::string& part : key_path(key).parts) {
    value = at == nullptr ? nullptr : engine::find(*at, part);
    if (value == nullptr) return nullptr;
    at = value->table();
  }
  return value;
}

std::string shown(const Table& table, std::string_view key) {
  const Value* value = find_at(table, key);
  return value == nullptr ? "absent" : engine::render_value(*value);
}

std::string keys_at(const Table& table, std::string_view key) {
  const Value* value = find_at(table, key);
  if (value == nullptr) return "absent";
  if (value->table() == nullptr) return "no table";
  std::string keys;
  for (const std::string& name : *value->table() | std::views::keys)
    keys += (keys.empty() ? "" : " ") + name;
  return keys;
}

std::string origin_at(const Table& table, std::string_view key) {
  const Value* value = find_at(table, key);
  return value == nullptr ? "absent" : value->origin.to_string();
}

std::string verdict_of(const Result<EffectiveConfig>& result) {
  if (result) return "loads";
  const std::string_view how = result.error().code == ErrorCode::daemon_refuses   ? "refuses at "
                               : result.error().code == ErrorCode::daemon_crashes ? "crashes at "
                                                                                  : "fails at ";
  return std::string(how) + result.error().where;
}

std::string printed_by(std::string_view release, Texts texts, std::string_view key, const LoadRequest& request) {
  const auto result = effective_of(release, texts, request);
  return result ? shown(result->config, key) : verdict_of(result);
}

std::vector<std::string> described(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& event : events) {
    std::string line = std::string(name_of(event.kind)) + " " + shortened(event.key);
    switch (event.kind) {
      case Event::Kind::overridden:
      case Event::Kind::erased:
        line += " by " + event.by.to_string();
        break;
      case Event::Kind::moved:
        line += " to " + shortened(event.to);
        break;
      case Event::Kind::unread:
        break;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void expect_printed(Texts texts,
                    std::string_view key,
                    std::initializer_list<Printed> expected,
                    const LoadRequest& request) {
  for (const auto& [releases, value] : expected) {
    for (const auto part : std::views::split(releases, ' ')) {
      const std::string_view release(part.begin(), part.end());
      EXPECT_EQ(printed_by(release, texts, key, request), value) << "containerd " << release << ", " << key;
    }
  }
}

}  // namespace ctkit::test
