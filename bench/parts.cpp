#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <benchmark/benchmark.h>

#include "engine/containerd/containerd_engine.h"
#include "engine/toml_reader.h"
#include "installer/plan.h"
#include "support/memory_files.h"

namespace {

using namespace ctkit;

constexpr std::array kReleases = {"1.5.18", "1.6.39", "1.7.27", "2.0.11", "2.1.9", "2.2.7", "2.3.4", "2.4.0-beta.0"};
const std::string kConfig = "/etc/containerd/config.toml";

engine::containerd::ContainerdEngine make_engine(std::string_view release) {
  auto known = engine::containerd::find_release(engine::Release::parse(release).value());
  return {{.known = std::move(known.value())}, {}};
}

/// The recorded node on which two drop-ins met.
void add_gpu_node(test::MemoryFiles& files) {
  const std::string root = TESTDATA "/captures/gpu-node-1.7.27/root";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    files.add_file(entry.path().string().substr(root.size()), std::string(std::istreambuf_iterator<char>(file), {}));
  }
}

/// So many drop-ins, each with a registry of its own.
void add_drop_ins(test::MemoryFiles& files, long count) {
  files.add_file(kConfig, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  for (long i = 0; i < count; ++i) {
    const std::string name = std::to_string(10000 + i);
    files.add_file("/etc/containerd/conf.d/" + name + ".toml",
                   "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.mirrors.\"r" + name +
                       ".example\"]\nendpoint = [\"https://r" + name + ".example\"]\n");
  }
}

/// A whole config as 1.7 prints it, about 300 lines.
std::string whole_config() {
  const auto engine = make_engine("1.7.27");
  return engine.render(engine.effective(test::MemoryFiles{}, false).value());
}

void read_whole_config(benchmark::State& state) {
  static constexpr std::array kDialects = {
      &engine::kGoToml18, &engine::kGoToml19, &engine::kGoToml22, &engine::kGoToml23, &engine::kGoToml24};
  const std::string text = whole_config();
  const engine::TomlDialect& dialect = *kDialects.at(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state)
    benchmark::DoNotOptimize(read_toml(text, kConfig, dialect));
  state.SetLabel(std::array{"go-toml 1.8", "go-toml 1.9", "go-toml 2.2", "go-toml 2.3", "go-toml 2.4"}.at(
      static_cast<std::size_t>(state.range(0))));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_whole_config)->DenseRange(0, 4)->Unit(benchmark::kMicrosecond);

void built_in_defaults(benchmark::State& state) {
  const char* release = kReleases.at(static_cast<std::size_t>(state.range(0)));
  const auto engine = make_engine(release);
  const test::MemoryFiles nothing;
  for (auto _ : state)
    benchmark::DoNotOptimize(engine.effective(nothing, false));
  state.SetLabel(release);
}
BENCHMARK(built_in_defaults)->DenseRange(0, kReleases.size() - 1)->Unit(benchmark::kMicrosecond);

void effective_of_gpu_node(benchmark::State& state, const char* release, bool with_events) {
  const auto engine = make_engine(release);
  test::MemoryFiles files;
  add_gpu_node(files);
  for (auto _ : state)
    benchmark::DoNotOptimize(engine.effective(files, with_events));
}
BENCHMARK_CAPTURE(effective_of_gpu_node, 1.7.27, "1.7.27", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(effective_of_gpu_node, 2.1.9, "2.1.9", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(effective_of_gpu_node, 1.7.27_with_events, "1.7.27", true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(effective_of_gpu_node, 2.1.9_with_events, "2.1.9", true)->Unit(benchmark::kMicrosecond);

void print_gpu_node(benchmark::State& state, const char* release) {
  const auto engine = make_engine(release);
  test::MemoryFiles files;
  add_gpu_node(files);
  const auto effective = engine.effective(files, false).value();
  for (auto _ : state)
    benchmark::DoNotOptimize(engine.render(effective));
}
BENCHMARK_CAPTURE(print_gpu_node, 1.7.27, "1.7.27")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(print_gpu_node, 2.1.9, "2.1.9")->Unit(benchmark::kMicrosecond);

void plan_on_gpu_node(benchmark::State& state, const char* release) {
  const auto engine = make_engine(release);
  test::MemoryFiles files;
  add_gpu_node(files);
  const engine::Desired desired{.handlers = {{.name = "nvidia", .binary = "/opt/nvidia"}}};
  for (auto _ : state)
    benchmark::DoNotOptimize(installer::make_plan(engine, files, std::nullopt, desired));
}
BENCHMARK_CAPTURE(plan_on_gpu_node, 1.7.27, "1.7.27")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_on_gpu_node, 2.1.9, "2.1.9")->Unit(benchmark::kMicrosecond);

void effective_by_drop_ins(benchmark::State& state, const char* release) {
  const auto engine = make_engine(release);
  test::MemoryFiles files;
  add_drop_ins(files, state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(engine.effective(files, false));
  state.SetComplexityN(state.range(0));
}
BENCHMARK_CAPTURE(effective_by_drop_ins, 1.7.27, "1.7.27")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(2000)
    ->Arg(4000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();
BENCHMARK_CAPTURE(effective_by_drop_ins, 2.1.9, "2.1.9")
    ->Arg(10)
    ->Arg(100)
    ->Arg(1000)
    ->Arg(2000)
    ->Arg(4000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity();

}  // namespace
