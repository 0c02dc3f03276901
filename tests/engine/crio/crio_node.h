#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "engine/crio/crio_engine.h"
#include "engine/toml_writer.h"
#include "support/memory_files.h"

// CRI-O hosts and questions in few words.
namespace ctkit::test {

inline const std::string kMain = "/etc/crio/crio.conf";
inline const std::string kDropIns = "/etc/crio/crio.conf.d/";

inline engine::crio::Known crio_of(std::string_view release) {
  return engine::crio::find_release(engine::Release::parse(release).value()).value();
}

/// Files as {name, text}; a relative name lies in the drop-in folder.
class CrioHost : public MemoryFiles {
 public:
  CrioHost(std::initializer_list<std::pair<std::string, std::string>> files) {
    add_folder("/etc/crio");
    for (const auto& [name, text] : files)
      add_file(name.starts_with('/') ? name : kDropIns + name, text);
  }
};

inline engine::crio::CrioEngine crio_engine(std::string_view release, engine::crio::LoadRequest request = {}) {
  return {crio_of(release), std::move(request)};
}

/// The value at a dotted key on one line of TOML, "absent", or "refused at file:line:column".
inline std::string at(const engine::Result<engine::EffectiveConfig>& config, std::string_view key) {
  if (!config) return "refused at " + config.error().where;
  const auto path = engine::KeyPath::parse(key);
  const engine::Table* table = &config->config;
  const engine::Value* value = nullptr;
  for (const std::string& part : path.value().parts) {
    value = table ? engine::find(*table, part) : nullptr;
    if (!value) return "absent";
    table = value->table();
  }
  return engine::render_value(*value);
}

}  // namespace ctkit::test
