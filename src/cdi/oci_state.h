#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::cdi {

/// What a hook gets on standard input, as far as it matters.
struct ContainerState {
  std::string bundle = {};  ///< folder of config.json; "" if the state has none
  std::string root = {};    ///< the container's root, where the runtime says so (crun)
};

/// Text behind the first JSON value does not count. `usage` if there is none.
engine::Result<ContainerState> parse_container_state(std::string_view text);

/// `root.path` of a bundle's config.json; "" if it has none. `usage` if it is no JSON object.
engine::Result<std::string> parse_root_path(std::string_view config);

/// The root's absolute path: a relative one is below the bundle. `usage` for none and for `/`,
/// which would be the host.
engine::Result<std::string> container_root(const ContainerState& state, std::string_view root_path);

}  // namespace ctkit::cdi
