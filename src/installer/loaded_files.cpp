#include "installer/loaded_files.h"

#include <algorithm>

namespace ctkit::installer {

namespace {

/// A process's start is known to a hundredth of a second, and it reads its files later than that.
constexpr std::int64_t kSlack = 20'000;

}  // namespace

bool may_have_read(const PeerProcess& process, std::int64_t time) {
  return process.started + kSlack > time;
}

std::vector<std::string> newer_files(const FileSystem& files,
                                     const engine::EffectiveConfig& config,
                                     const PeerProcess& process,
                                     const Settled& settled) {
  std::int64_t known = process.started + kSlack;
  if (settled.start_ticks == process.start_ticks) known = std::max(known, settled.up_to);
  std::vector<std::string> newer;
  for (const engine::Layer& layer : config.layers) {
    const auto modified = files.modified(layer.path);
    if (modified && *modified > known) newer.push_back(layer.path);
  }
  return newer;
}

std::int64_t last_change(const FileSystem& files, const engine::EffectiveConfig& config) {
  std::int64_t last = 0;
  for (const engine::Layer& layer : config.layers)
    last = std::max(last, files.modified(layer.path).value_or(0));
  return last;
}

}  // namespace ctkit::installer
