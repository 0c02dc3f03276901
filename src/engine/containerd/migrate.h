#pragma once

#include <span>
#include <string_view>

#include "engine/containerd/regime.h"
#include "engine/diagnostic.h"
#include "engine/result.h"
#include "engine/transcript.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

inline constexpr std::string_view kCri = "io.containerd.grpc.v1.cri";
inline constexpr std::string_view kRuntime = "io.containerd.cri.v1.runtime";
inline constexpr std::string_view kImages = "io.containerd.cri.v1.images";

/// Steps between schema versions, each knowing only the version before. `config` is a decoded top-level struct.
/// Types that containerd asserts and does not find are `daemon_crashes`.
struct MigrationContext {
  const Regime* regime = nullptr;
  const Transcript* transcript = nullptr;
};

/// 1 to 2: short plugin names become full ids, in `plugins` and in the two plugin lists. A name with a dot is kept.
/// containerd: cmd/containerd/server/config v1Migrate, v2.0.0.
void expand_short_names(Table& config, const MigrationContext& context);

/// Contents of sections, 2 to 3: the plugins' own ConfigMigration functions, in the order the release runs them;
/// `skipped` are those whose id is disabled. containerd: plugins/*/ ConfigMigration.
Result<void> migrate_plugins(Table& plugins,
                             std::span<const std::string_view> order,
                             const Array& skipped,
                             const MigrationContext& context);

/// 3 to 4: the server tables at the top become plugin sections. containerd: serverMigrate, v2.3.0.
void move_server_tables(Table& config, const MigrationContext& context);

/// From the config's version up to `target`: steps 1 to 2 and 3 to 4. Fails with `daemon_crashes` where containerd runs
/// off its table of steps.
Result<void> migrate_to(Table& config, long target, const MigrationContext& context);

}  // namespace ctkit::engine::containerd
