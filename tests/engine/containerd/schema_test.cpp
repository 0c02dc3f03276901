#include "engine/containerd/schema.h"

#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::engine::containerd {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kOldCri = "io.containerd.grpc.v1.cri";
constexpr std::string_view kCriRuntime = "io.containerd.cri.v1.runtime";
constexpr std::string_view kCriImages = "io.containerd.cri.v1.images";
constexpr std::string_view kNri = "io.containerd.nri.v1.nri";

/// Stands for "no such thing" where a missing field is the fact under test.
constexpr Type kAbsent{.name = "(absent)"};

const Schema& schema(std::string_view release) {
  const auto releases = recorded_releases();
  EXPECT_THAT(releases, Contains(release));
  return recorded_schema(release);
}

const Type& follow(const Type& from, std::initializer_list<std::string_view> path) {
  const Type* at = &from;
  for (const auto& name : path) {
    const auto inside = at->kind == Kind::map ? at->entries : at->fields;
    const auto found = std::ranges::find(inside, name, &Type::name);
    if (found == inside.end()) return kAbsent;
    at = &*found;
  }
  return *at;
}

const Type& plugin(std::string_view release, std::string_view id, std::initializer_list<std::string_view> path = {}) {
  const auto plugins = schema(release).plugins;
  const auto found = std::ranges::find(plugins, id, &PluginType::id);
  return found == plugins.end() ? kAbsent : follow(*found->type, path);
}

const Type& top(std::string_view release, std::initializer_list<std::string_view> path) {
  return follow(*schema(release).top, path);
}

std::vector<std::string_view> names(std::span<const Type> types) {
  std::vector<std::string_view> names;
  for (const auto& type : types)
    names.push_back(type.name);
  return names;
}

// ---- what is recorded

TEST(Schema, HasEveryRecordedReleaseOldestFirst) {
  EXPECT_THAT(recorded_releases(),
              ElementsAre("1.5.18",
                          "1.6.20",
                          "1.6.28",
                          "1.6.39",
                          "1.7.0",
                          "1.7.13",
                          "1.7.15",
                          "1.7.27",
                          "1.7.34",
                          "2.0.0",
                          "2.0.5",
                          "2.0.6",
                          "2.0.11",
                          "2.1.0",
                          "2.1.9",
                          "2.2.0",
                          "2.2.1",
                          "2.2.2",
                          "2.2.7",
                          "2.3.0",
                          "2.3.4",
                          "2.4.0-beta.0"));
}

// ---- where CRI, CDI and NRI keep what, and with which defaults

struct CriFacts {
  std::string_view release = {};
  std::string_view section = {};  ///< of default_runtime_name, runtimes, cni, enable_cdi
  bool has_cdi = false;
  bool cdi_enabled = false;
  bool has_nri = false;
  bool nri_disabled = false;
  std::string_view sandbox_image = {};
  std::string_view bin_dir = {};
  bool has_bin_dirs = false;
  std::size_t runc_options = 0;
  bool has_systemd_cgroup = false;
};

void PrintTo(const CriFacts& facts, std::ostream* out) {
  *out << facts.release;
}

class Cri : public ::testing::TestWithParam<CriFacts> {};

TEST_P(Cri, KeepsCdiInItsSection) {
  const auto& facts = GetParam();
  const auto& enable_cdi = plugin(facts.release, facts.section, {"enable_cdi"});
  const auto& spec_dirs = plugin(facts.release, facts.section, {"cdi_spec_dirs"});
  if (!facts.has_cdi) {
    EXPECT_EQ(&enable_cdi, &kAbsent);
    EXPECT_EQ(&spec_dirs, &kAbsent);
    return;
  }
  EXPECT_EQ(enable_cdi.kind, Kind::boolean);
  EXPECT_EQ(enable_cdi.built_in == BuiltIn{true}, facts.cdi_enabled);
  EXPECT_THAT(spec_dirs.strings, ElementsAre("/etc/cdi", "/var/run/cdi"));
}

TEST_P(Cri, HasTheNriSwitchOfItsRelease) {
  const auto& facts = GetParam();
  const auto& disable = plugin(facts.release, kNri, {"disable"});
  EXPECT_EQ(&disable != &kAbsent, facts.has_nri);
  EXPECT_EQ(disable.built_in == BuiltIn{true}, facts.nri_disabled);
}

TEST_P(Cri, KnowsTheSandboxImage) {
  const auto& facts = GetParam();
  const auto& image = facts.section == kOldCri ? plugin(facts.release, kOldCri, {"sandbox_image"})
                                               : plugin(facts.release, kCriImages, {"pinned_images", "sandbox"});
  EXPECT_EQ(image.built_in, BuiltIn{facts.sandbox_image});
}

TEST_P(Cri, KnowsTheCniBinaries) {
  const auto& facts = GetParam();
  const auto& bin_dir = plugin(facts.release, facts.section, {"cni", "bin_dir"});
  EXPECT_EQ(bin_dir.built_in, facts.bin_dir.empty() ? BuiltIn{} : BuiltIn{facts.bin_dir});
  const auto& bin_dirs = plugin(facts.release, facts.section, {"cni", "bin_dirs"});
  EXPECT_EQ(&bin_dirs != &kAbsent, facts.has_bin_dirs);
  if (facts.has_bin_dirs) {
    EXPECT_THAT(bin_dirs.strings, ElementsAre("/opt/cni/bin"));
  }
}

TEST_P(Cri, BuildsInTheOptionsOfRunc) {
  const auto& facts = GetParam();
  const auto& runtimes = plugin(facts.release, facts.section, {"containerd", "runtimes"});
  EXPECT_THAT(names(runtimes.entries), ElementsAre("runc"));
  const auto& options = follow(runtimes, {"runc", "options"});
  EXPECT_EQ(options.kind, Kind::map);
  ASSERT_NE(options.element, nullptr);
  EXPECT_EQ(options.element->kind, Kind::any);
  EXPECT_EQ(options.entries.size(), facts.runc_options);
  EXPECT_EQ(follow(options, {"BinaryName"}).built_in, BuiltIn{""});
  const auto& systemd_cgroup = follow(options, {"SystemdCgroup"});
  EXPECT_EQ(&systemd_cgroup != &kAbsent, facts.has_systemd_cgroup);
  if (facts.has_systemd_cgroup) {
    // Its zero must be spelled out: nothing else tells the type of an `any`.
    EXPECT_EQ(systemd_cgroup.built_in, BuiltIn{false});
  }
}

CriFacts release_1(std::string_view release, std::string_view sandbox_image, bool is_1_7) {
  return {.release = release,
          .section = kOldCri,
          .has_cdi = is_1_7,
          .cdi_enabled = false,
          .has_nri = is_1_7,
          .nri_disabled = is_1_7,
          .sandbox_image = sandbox_image,
          .bin_dir = "/opt/cni/bin",
          .has_bin_dirs = false,
          .runc_options = 11,
          .has_systemd_cgroup = true};
}

CriFacts release_2(std::string_view release,
                   std::string_view sandbox_image,
                   bool has_bin_dirs,
                   bool has_systemd_cgroup) {
  return {.release = release,
          .section = kCriRuntime,
          .has_cdi = true,
          .cdi_enabled = true,
          .has_nri = true,
          .nri_disabled = false,
          .sandbox_image = sandbox_image,
          .bin_dir = has_bin_dirs ? "" : "/opt/cni/bin",
          .has_bin_dirs = has_bin_dirs,
          .runc_options = has_systemd_cgroup ? 9U : 8U,
          .has_systemd_cgroup = has_systemd_cgroup};
}

INSTANTIATE_TEST_SUITE_P(Releases,
                         Cri,
                         ::testing::Values(release_1("1.5.18", "registry.k8s.io/pause:3.5", false),
                                           release_1("1.6.20", "registry.k8s.io/pause:3.6", false),
                                           release_1("1.7.0", "registry.k8s.io/pause:3.8", true),
                                           release_1("1.7.27", "registry.k8s.io/pause:3.8", true),
                                           release_2("2.0.6", "registry.k8s.io/pause:3.10", false, false),
                                           release_2("2.0.11", "registry.k8s.io/pause:3.10", false, true),
                                           release_2("2.1.0", "registry.k8s.io/pause:3.10", true, false),
                                           release_2("2.1.9", "registry.k8s.io/pause:3.10", true, true),
                                           release_2("2.2.7", "registry.k8s.io/pause:3.10.1", true, true),
                                           release_2("2.3.4", "registry.k8s.io/pause:3.10.2", true, true)),
                         [](const auto& test) {
                           std::string name(test.param.release);
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(Schema, KeepsTheRegistrySearchPathOf220And221Only) {
  constexpr std::string_view kSearchPath = "/etc/containerd/certs.d:/etc/docker/certs.d";
  for (const auto* release : {"2.1.9", "2.2.2", "2.3.4"}) {
    EXPECT_EQ(plugin(release, kCriImages, {"registry", "config_path"}).built_in, BuiltIn{}) << release;
  }
  for (const auto* release : {"2.2.0", "2.2.1"}) {
    EXPECT_EQ(plugin(release, kCriImages, {"registry", "config_path"}).built_in, BuiltIn{kSearchPath}) << release;
  }
}

// ---- details of types

TEST(Schema, LeavesTracingOutWhenEmptyFrom1639On) {
  EXPECT_FALSE(plugin("1.6.20", "io.containerd.internal.v1.tracing", {"sampling_ratio"}).omit_empty);
  EXPECT_TRUE(plugin("1.6.39", "io.containerd.internal.v1.tracing", {"sampling_ratio"}).omit_empty);
}

TEST(Schema, TellsIntegersFromFloats) {
  EXPECT_EQ(plugin("1.6.20", "io.containerd.internal.v1.tracing", {"sampling_ratio"}).built_in, BuiltIn{1.0});
  EXPECT_EQ(plugin("2.3.4", "io.containerd.gc.v1.scheduler", {"pause_threshold"}).built_in, BuiltIn{0.02});
  EXPECT_EQ(plugin("2.3.4", "io.containerd.gc.v1.scheduler", {"mutation_threshold"}).built_in,
            BuiltIn{std::int64_t{100}});
}

TEST(Schema, TellsTheTwoKindsOfDuration) {
  const auto& startup_delay = plugin("1.7.27", "io.containerd.gc.v1.scheduler", {"startup_delay"});
  EXPECT_EQ(startup_delay.kind, Kind::duration_text);
  EXPECT_EQ(startup_delay.built_in, BuiltIn{"100ms"});
  const auto& timeout = plugin("1.7.0", kNri, {"plugin_registration_timeout"});
  EXPECT_EQ(timeout.kind, Kind::duration_int);
  EXPECT_EQ(timeout.built_in, BuiltIn{std::int64_t{5'000'000'000}});
}

TEST(Schema, HasOptionalBooleansThatAreOn) {
  const auto& enable_criu = plugin("2.2.7", kCriRuntime, {"enable_criu"});
  EXPECT_TRUE(enable_criu.pointer);
  EXPECT_FALSE(enable_criu.nil_default);
  EXPECT_EQ(enable_criu.built_in, BuiltIn{true});
  EXPECT_EQ(&plugin("2.2.2", kCriRuntime, {"enable_criu"}), &kAbsent);
}

TEST(Schema, StartsRegistryCredentialsAsNil) {
  const auto& configs = plugin("1.7.27", kOldCri, {"registry", "configs"});
  EXPECT_TRUE(configs.nil_default);
  ASSERT_NE(configs.element, nullptr);
  const auto& auth = follow(*configs.element, {"auth"});
  EXPECT_TRUE(auth.pointer);
  EXPECT_TRUE(auth.nil_default);
  EXPECT_THAT(names(auth.fields), ElementsAre("username", "password", "auth", "identitytoken"));
}

TEST(Schema, BuildsInTablesInLists) {
  const auto& unpack = plugin("1.7.27", "io.containerd.transfer.v1.local", {"unpack_config"});
  ASSERT_EQ(unpack.items.size(), 1U);
  EXPECT_EQ(follow(unpack.items.front(), {"platform"}).built_in, BuiltIn{"linux/amd64"});
  EXPECT_EQ(follow(unpack.items.front(), {"snapshotter"}).built_in, BuiltIn{"overlayfs"});
}

// ---- the top-level config

TEST(Schema, FillsTheTopLevelConfigIn) {
  EXPECT_EQ(top("1.7.27", {"root"}).built_in, BuiltIn{"/var/lib/containerd"});
  EXPECT_EQ(top("1.7.27", {"grpc", "address"}).built_in, BuiltIn{"/run/containerd/containerd.sock"});
  EXPECT_EQ(top("1.7.27", {"grpc", "max_recv_message_size"}).built_in, BuiltIn{std::int64_t{16} << 20});
  EXPECT_EQ(top("1.7.27", {"version"}).built_in, BuiltIn{});
  // From 2.3.0 on the server's values are those of plugins; the old tables aren't printed any more.
  EXPECT_TRUE(top("2.3.0", {"grpc"}).omit_empty);
  EXPECT_EQ(top("2.3.0", {"grpc", "address"}).built_in, BuiltIn{});
  EXPECT_EQ(plugin("2.3.0", "io.containerd.server.v1.grpc", {"address"}).built_in,
            BuiltIn{"/run/containerd/containerd.sock"});
}

TEST(Schema, ImportsConfDFrom220On) {
  EXPECT_THAT(top("1.7.27", {"imports"}).strings, IsEmpty());
  EXPECT_THAT(top("2.1.9", {"imports"}).strings, IsEmpty());
  EXPECT_THAT(top("2.2.0", {"imports"}).strings, ElementsAre("/etc/containerd/conf.d/*.toml"));
}

TEST(Schema, HasTimeoutsAndStreamProcessorsAsEntries) {
  EXPECT_EQ(top("1.7.27", {"timeouts", "io.containerd.timeout.shim.cleanup"}).built_in, BuiltIn{"5s"});
  EXPECT_EQ(top("2.1.9", {"timeouts", "io.containerd.timeout.bolt.open"}).built_in, BuiltIn{"0s"});
  EXPECT_EQ(top("1.5.18", {"timeouts"}).entries.size(), 4U);
  EXPECT_EQ(top("2.1.9", {"timeouts"}).entries.size(), 7U);
  const auto& processors = top("2.4.0-beta.0", {"stream_processors"});
  EXPECT_THAT(names(processors.entries),
              ElementsAre("io.containerd.ocicrypt.decoder.v1.tar", "io.containerd.ocicrypt.decoder.v1.tar.gzip"));
  EXPECT_THAT(follow(processors.entries.front(), {"args"}).strings,
              ElementsAre("--decryption-keys-path", "/etc/containerd/ocicrypt/keys"));
}

TEST(Schema, LeavesRawPluginSectionsToTheFile) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& recorded = recorded_schema(each);
    const auto& plugins = follow(*recorded.top, {"plugins"});
    EXPECT_EQ(plugins.kind, Kind::map) << recorded.release;
    ASSERT_NE(plugins.element, nullptr) << recorded.release;
    EXPECT_EQ(plugins.element->kind, Kind::any) << recorded.release;
    EXPECT_TRUE(plugins.nil_default) << recorded.release;
  }
}

// ---- orders

TEST(Schema, ListsPluginsInDecodeOrder) {
  std::vector<std::string_view> ids;
  for (const auto& [id, type] : schema("2.1.9").plugins)
    ids.push_back(id);
  const auto position = [&ids](std::string_view id) { return std::ranges::find(ids, id); };
  EXPECT_LT(position(kCriImages), position(kCriRuntime));
  EXPECT_LT(position(kCriRuntime), position(kOldCri));
  EXPECT_FALSE(std::ranges::is_sorted(ids));
}

TEST(Schema, ListsMigrationsInTheOrderTheyRun) {
  EXPECT_THAT(schema("1.7.34").migrations, IsEmpty());
  EXPECT_THAT(schema("2.2.7").migrations,
              ElementsAre("io.containerd.monitor.task.v1.cgroups",
                          "io.containerd.shim.v1.manager",
                          kCriImages,
                          kCriRuntime,
                          "io.containerd.monitor.container.v1.restart",
                          kOldCri));
  // The last two changed places.
  EXPECT_THAT(schema("2.3.0").migrations,
              ElementsAre("io.containerd.monitor.task.v1.cgroups",
                          "io.containerd.shim.v1.manager",
                          kCriImages,
                          kCriRuntime,
                          kOldCri,
                          "io.containerd.monitor.container.v1.restart"));
}

// ---- the shape of all of it

/// Whether the alternative in use is one the kind can have.
bool fits(Kind kind, const BuiltIn& value) {
  if (std::holds_alternative<std::monostate>(value)) return true;
  switch (kind) {
    case Kind::table:
    case Kind::map:
    case Kind::array:
      return false;
    case Kind::any:
      return true;
    case Kind::boolean:
      return std::holds_alternative<bool>(value);
    case Kind::integer:
    case Kind::duration_int:
      return std::holds_alternative<std::int64_t>(value);
    case Kind::floating:
      return std::holds_alternative<double>(value);
    case Kind::string:
    case Kind::duration_text:
      return std::holds_alternative<std::string_view>(value);
  }
  return false;
}

bool are_unique_and_named(std::span<const Type> types) {
  auto sorted = names(types);
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) == sorted.end() &&
         std::ranges::find(sorted, std::string_view()) == sorted.end();
}

void check_shape(const Type& type, const std::string& where, int depth) {
  SCOPED_TRACE(where);
  ASSERT_LT(depth, 10);
  const bool holds_values = type.kind == Kind::map || type.kind == Kind::array;
  EXPECT_EQ(type.element != nullptr, holds_values);
  EXPECT_TRUE(fits(type.kind, type.built_in));
  EXPECT_TRUE(type.kind == Kind::table || type.fields.empty());
  EXPECT_TRUE(type.kind == Kind::map || type.entries.empty());
  EXPECT_TRUE(type.kind == Kind::array || (type.items.empty() && type.strings.empty()));
  EXPECT_TRUE(are_unique_and_named(type.fields));
  EXPECT_TRUE(are_unique_and_named(type.entries));
  EXPECT_TRUE(std::ranges::is_sorted(type.entries, {}, &Type::name));
  EXPECT_FALSE(type.nil_default && !type.entries.empty());
  for (const auto& field : type.fields)
    check_shape(field, where + "." + std::string(field.name), depth + 1);
  if (type.element == nullptr) return;
  EXPECT_TRUE(type.element->name.empty());
  EXPECT_TRUE(type.strings.empty() || type.element->kind == Kind::string);
  check_shape(*type.element, where + "[]", depth + 1);
  for (const auto& entry : type.entries) {
    EXPECT_EQ(entry.kind, type.element->kind) << entry.name;
    EXPECT_EQ(names(entry.fields), names(type.element->fields)) << entry.name;
    check_shape(entry, where + "." + std::string(entry.name), depth + 1);
  }
  for (const auto& item : type.items) {
    EXPECT_EQ(item.kind, Kind::table);
    EXPECT_EQ(names(item.fields), names(type.element->fields));
    check_shape(item, where + "[0]", depth + 1);
  }
}

TEST(Schema, IsWellFormed) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& recorded = recorded_schema(each);
    SCOPED_TRACE(recorded.release);
    ASSERT_NE(recorded.top, nullptr);
    EXPECT_EQ(recorded.top->kind, Kind::table);
    check_shape(*recorded.top, "top", 0);
    EXPECT_TRUE(std::ranges::is_sorted(recorded.plugin_ids));
    EXPECT_EQ(std::ranges::adjacent_find(recorded.plugin_ids), recorded.plugin_ids.end());
    for (const auto& [id, type] : recorded.plugins) {
      ASSERT_NE(type, nullptr) << id;
      EXPECT_EQ(type->kind, Kind::table) << id;
      EXPECT_TRUE(std::ranges::binary_search(recorded.plugin_ids, id)) << id;
      EXPECT_EQ(std::ranges::count(recorded.plugins, id, &PluginType::id), 1) << id;
      check_shape(*type, std::string(id), 0);
    }
    for (const auto& id : recorded.migrations) {
      EXPECT_TRUE(std::ranges::binary_search(recorded.plugin_ids, id)) << id;
    }
  }
}

}  // namespace
}  // namespace ctkit::engine::containerd
