#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "installer/loaded_state.h"
#include "installer/unit_state.h"

namespace ctkit::installer {

/// What the files say the daemon has to serve; an empty setting is not known.
struct Expected {
  std::vector<engine::Handler> handlers = {};
  std::string default_handler = {};
  std::string sandbox_image = {};
  std::vector<std::string> cni_binary_folders = {};
  std::string cni_config_folder = {};
};

/// Out of an effective config and its handlers.
Expected make_expected(const engine::EffectiveConfig& config, const std::vector<engine::Handler>& handlers);

/// What a difference of the default handler is called.
inline constexpr std::string_view kDefaultHandler = "the default handler";

/// One thing that the files say and the running daemon doesn't, or the other way round.
struct Difference {
  std::string what = {};    ///< "handler 'nvidia'", "the pause image", …
  std::string files = {};   ///< empty: they have none
  std::string loaded = {};  ///< empty: it has none
  bool operator==(const Difference&) const = default;
};

/// Files and daemon side by side. What either doesn't tell is no difference.
std::vector<Difference> compare_loaded(const Expected& expected, const LoadedState& loaded);

/// Handlers that the daemon serves and the files no longer have: a restart would lose them.
std::vector<std::string> handlers_to_lose(const Expected& expected, const LoadedState& loaded);

/// Why the restart itself is none, in words; empty: the unit runs anew.
std::vector<std::string> judge_restart(const std::string& unit, const RestartOutcome& outcome);

/// Why what the daemon has loaded isn't good enough; empty: it is.
/// 1. Every handler of `expected` is there, with its binary.
/// 2. Every handler that was there `before` is, unless the files have it no longer.
/// 3. Default handler, pause image and CNI folders are those from before, or what the files say.
/// 4. The runtime is ready if it was before.
std::vector<std::string> judge_loaded(const Expected& expected,
                                      const std::optional<LoadedState>& before,
                                      const LoadedState& after);

}  // namespace ctkit::installer
