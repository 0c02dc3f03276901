#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::engine {
class FileReader;
}

// Go's path/filepath on Linux, as far as containerd resolves its imports with it
// (services/server/config resolveImports, cmd/containerd/server/config). All functions but `glob`
// look at the text of a path only.
namespace ctkit::engine::containerd {

/// filepath.Clean: the shortest path with the same meaning if there were no links; "" becomes ".".
std::string clean(std::string_view path);

/// filepath.Join: the parts that are not empty, with a slash between, cleaned; "" if both are
/// empty.
std::string join(std::string_view left, std::string_view right);

/// filepath.Dir: all but the last part, cleaned.
std::string dir(std::string_view path);

/// filepath.Base: the last part; "." for "" and "/" for slashes only.
std::string base(std::string_view path);

/// filepath.IsAbs.
bool is_absolute(std::string_view path);

/// filepath.Match: whether the pattern matches the whole name. Fails with `daemon_refuses` if the
/// matching comes to something malformed: behind a `*`, that depends on the name.
Result<bool> match(std::string_view pattern, std::string_view name);

/// filepath.Glob: what the pattern finds, spelled and sorted as Go does: folders by bytes, in each
/// the names by bytes. A relative pattern is looked up from `working_folder` (a service's is `/`),
/// its results stay relative. Fails with `daemon_refuses` on a malformed pattern as far as Go
/// notices it, with `permission` on a folder that only we cannot read; any other folder that cannot
/// be read counts as empty.
Result<std::vector<std::string>> glob(std::string_view pattern,
                                      const FileReader& files,
                                      std::string_view working_folder = "/");

}  // namespace ctkit::engine::containerd
