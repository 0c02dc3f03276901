#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/containerd/containerd_engine.h"
#include "installer/install.h"
#include "support/memory_files.h"

namespace ctkit::test {

inline const std::string kRoot = "/etc/containerd/config.toml";
inline const std::string kDropIn = "/etc/containerd/conf.d/99-nvidia.toml";
inline const std::string kJournal = "/usr/local/nvidia/.ctkit/journal.json";

/// A containerd that nothing comes after: looking ahead is most of a plan's time.
class LastContainerd : public engine::containerd::ContainerdEngine {
 public:
  using ContainerdEngine::ContainerdEngine;
  [[nodiscard]] std::vector<std::unique_ptr<engine::Engine>> successors() const override { return {}; }
};

/// The engine of a recorded release, on its usual config path.
template <typename Engine = engine::containerd::ContainerdEngine>
inline std::unique_ptr<engine::Engine> make_engine(std::string_view release) {
  auto parsed = engine::Release::parse(release);
  auto known = engine::containerd::find_release(parsed.value());
  return std::make_unique<Engine>(engine::containerd::Daemon{.known = std::move(known.value())},
                                  engine::containerd::LoadRequest{});
}

inline engine::Desired make_desired() {
  engine::Desired desired;
  for (const std::string name : {"nvidia", "nvidia-cdi", "nvidia-legacy"}) {
    desired.handlers.push_back({.name = name, .binary = "/opt/" + name});
  }
  return desired;
}

inline installer::Request make_request(installer::Verb verb) {
  return {.verb = verb, .desired = make_desired()};
}

/// One run of a verb on these files, as main does it.
inline engine::Result<installer::Outcome> run(installer::Request request,
                                              const engine::Engine& engine,
                                              MemoryFiles& files) {
  installer::Host host{.files = files};
  return installer::run(request, engine, host);
}

inline engine::Result<installer::Outcome> run(installer::Verb verb, const engine::Engine& engine, MemoryFiles& files) {
  return run(make_request(verb), engine, files);
}

/// "" or what went wrong, so that a failed expectation says it.
template <typename T>
std::string error_of(const engine::Result<T>& result) {
  return result ? "" : result.error().message + " (" + result.error().where + ")";
}

/// The GPU incident of 1.7.27: the registry file erases what the one before it sets.
inline MemoryFiles incident() {
  return MemoryFiles{{kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"},
                     {"/etc/containerd/conf.d/10-runc.toml",
                      R"(version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = true
)"},
                     {"/etc/containerd/conf.d/registry.toml",
                      R"(version = 2
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "/etc/containerd/certs.d"
)"}};
}

/// Where ours goes in the incident: behind `registry.toml`.
inline const std::string kLastDropIn = "/etc/containerd/conf.d/zz-99-nvidia.toml";

}  // namespace ctkit::test
