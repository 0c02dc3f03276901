#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/containerd/effective.h"
#include "engine/containerd/migrate.h"
#include "engine/effective_config.h"
#include "engine/result.h"
#include "engine/value.h"
#include "support/memory_files.h"

// containerd trees and questions in few words. In TOML texts a header that begins with OLD, RUNTIME
// or IMAGES, and in keys one of them as first part, stands for the section of
// io.containerd.grpc.v1.cri, io.containerd.cri.v1.runtime or io.containerd.cri.v1.images.
namespace ctkit::test {

/// Files as {path, text}; a relative path lies in /etc/containerd.
using Texts = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// The text with the short names written out.
std::string expand(std::string_view toml);

/// A TOML text as go-toml 2.2 reads it.
engine::Table parse(std::string_view toml, std::string_view file = "test.toml");

/// A containerd host in memory.
class Host : public MemoryFiles {
 public:
  Host() = default;
  Host(Texts texts);
};

/// A daemon of the release on its recorded built-in values.
engine::containerd::Daemon daemon_of(std::string_view release);

/// The type of a plugin's section in the release; it must be there.
const engine::containerd::Type& plugin_type(const engine::containerd::Daemon& daemon, std::string_view id);

/// What the release's daemon makes of the files; with events.
engine::Result<engine::EffectiveConfig> effective_of(std::string_view release,
                                                     const engine::FileReader& files,
                                                     const engine::containerd::LoadRequest& request = {});
engine::Result<engine::EffectiveConfig> effective_of(std::string_view release,
                                                     Texts texts,
                                                     const engine::containerd::LoadRequest& request = {});

/// The same, where it must load: a refusal fails the test and gives an empty config.
engine::EffectiveConfig loaded(std::string_view release,
                               Texts texts,
                               const engine::containerd::LoadRequest& request = {});

/// `config dump` instead of the daemon.
inline const engine::containerd::LoadRequest kDump{.as_dump = true};

/// The value at a dotted key, or null.
const engine::Value* find_at(const engine::Table& table, std::string_view key);

/// The value at a dotted key on one line of TOML, or "absent".
std::string shown(const engine::Table& table, std::string_view key);

/// The keys of the table at a dotted key, "runc nvidia" style, in order; "absent".
std::string keys_at(const engine::Table& table, std::string_view key);

/// The origin of the value at a dotted key: "/etc/containerd/config.toml:3", "built-in", "absent".
std::string origin_at(const engine::Table& table, std::string_view key);

/// What a release prints at a key: as `shown`, or how it refuses: "refuses at file:line", "crashes
/// at file:line".
std::string printed_by(std::string_view release,
                       Texts texts,
                       std::string_view key,
                       const engine::containerd::LoadRequest& request = {});

/// "refuses at file:line", "crashes at file:line", or "loads".
std::string verdict_of(const engine::Result<engine::EffectiveConfig>& result);

/// Each event as "overridden KEY by file:line", "moved KEY to KEY", … in order; with the short
/// names in the keys.
std::vector<std::string> described(const std::vector<engine::Event>& events);

/// One line per release with what it prints; reports each that differs.
struct Printed {
  std::string_view releases = {};  ///< separated by blanks
  std::string_view value = {};
};
void expect_printed(Texts texts,
                    std::string_view key,
                    std::initializer_list<Printed> expected,
                    const engine::containerd::LoadRequest& request = {});

}  // namespace ctkit::test
