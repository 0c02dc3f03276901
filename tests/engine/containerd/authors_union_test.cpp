#include "engine/containerd/authors_union.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "engine/toml_writer.h"
#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::parse;

const Type& cri() {
  static const Daemon daemon = test::daemon_of("1.7.27");
  return test::plugin_type(daemon, kCri);
}

/// The union of CRI tables; each is "file1.toml", "file2.toml", …
Table united(std::initializer_list<std::string_view> sections) {
  std::vector<Table> tables;
  for (const std::string_view section : sections)
    tables.push_back(parse(section, "file" + std::to_string(tables.size() + 1) + ".toml"));
  std::vector<Source> sources;
  for (const Table& table : tables)
    sources.push_back({nullptr, &table});
  return union_of(sources, cri());
}

void expect_union(std::initializer_list<std::string_view> sections, std::string_view expected) {
  EXPECT_EQ(render_toml(united(sections)), render_toml(parse(expected)));
}

TEST(AuthorsUnion, HoldsWhatEachAuthorMeant) {
  expect_union({"sandbox_image = 'p'\n[containerd.runtimes.runc]\nruntime_type = 'r'",
                "[containerd.runtimes.nvidia]\nruntime_type = 'n'",
                "[registry]\nconfig_path = '/certs.d'"},
               R"(
    sandbox_image = "p"
    [containerd.runtimes.runc]
    runtime_type = "r"
    [containerd.runtimes.nvidia]
    runtime_type = "n"
    [registry]
    config_path = "/certs.d"
  )");
}

TEST(AuthorsUnion, TakesTheLaterValueOfAField) {
  expect_union(
      {"enable_selinux = true\ncdi_spec_dirs = ['/a', '/b']", "enable_selinux = false\ncdi_spec_dirs = ['/c']"},
      "enable_selinux = false\ncdi_spec_dirs = ['/c']");
  expect_union({"cdi_spec_dirs = ['/a']", "cdi_spec_dirs = []"}, "cdi_spec_dirs = []");
}

TEST(AuthorsUnion, CountsTwoSpellingsOfAFieldAsOne) {
  expect_union({"enable_selinux = true", "ENABLE_SELINUX = false"}, "ENABLE_SELINUX = false");
  expect_union({"[containerd.runtimes.n.options]\nBinaryName = '/a'\nSystemdCgroup = true",
                "[containerd.runtimes.n.options]\nbinaryName = '/b'"},
               "[containerd.runtimes.n.options]\nbinaryName = '/b'\nSystemdCgroup = true");
  expect_union({"[CNI]\nbin_dir = '/a'", "[cni]\nconf_dir = '/b'"}, "[cni]\nbin_dir = '/a'\nconf_dir = '/b'");
}

TEST(AuthorsUnion, KeepsNamesApartThatDifferInCase) {
  expect_union({"[containerd.runtimes.Runc]\nruntime_type = 'a'", "[containerd.runtimes.runc]\nruntime_type = 'b'"},
               "[containerd.runtimes.Runc]\nruntime_type = "
               "'a'\n[containerd.runtimes.runc]\nruntime_type = 'b'");
  expect_union({"[registry.mirrors.'A.test']\nendpoint = ['a']", "[registry.mirrors.'a.test']\nendpoint = ['b']"},
               "[registry.mirrors.'A.test']\nendpoint = "
               "['a']\n[registry.mirrors.'a.test']\nendpoint = ['b']");
}

TEST(AuthorsUnion, KeepsTheOriginOfEachValue) {
  const Table section = united({"sandbox_image = 'p'\nenable_selinux = true", "\nenable_selinux = false"});
  EXPECT_EQ(test::origin_at(section, "sandbox_image"), "file1.toml:1");
  EXPECT_EQ(test::origin_at(section, "enable_selinux"), "file2.toml:2");
}

TEST(AuthorsUnion, IsNotChangedByAnEmptySection) {
  constexpr std::string_view kSection = "sandbox_image = 'p'\n[containerd.runtimes.runc.options]\nSystemdCgroup = true";
  expect_union({kSection, ""}, kSection);
  expect_union({"", kSection}, kSection);
  expect_union({kSection, kSection}, kSection);
  expect_union({}, "");
}

Table without_built_in(std::string_view section) {
  Table table = parse(section);
  drop_built_in(table, built_in_section(test::daemon_of("1.7.27"), kCri), cri());
  return table;
}

TEST(DropBuiltIn, TakesOutMembersThatAreSoAnyway) {
  EXPECT_EQ(render_toml(without_built_in(R"(
    sandbox_image = "registry.k8s.io/pause:3.8"
    enable_selinux = true
    [cni]
    bin_dir = "/opt/cni/bin"
    [containerd]
    snapshotter = "overlayfs"
    discard_unpacked_layers = true
  )")),
            render_toml(parse("enable_selinux = true\n[containerd]\ndiscard_unpacked_layers = true")));
}

TEST(DropBuiltIn, LeavesMapsWhole) {
  constexpr std::string_view kRuntimes = R"(
    [containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    sandbox_mode = "podsandbox"
    [containerd.runtimes.runc.options]
    SystemdCgroup = false
  )";
  EXPECT_EQ(render_toml(without_built_in(kRuntimes)), render_toml(parse(kRuntimes)));
}

TEST(DropBuiltIn, LeavesUnknownKeys) {
  EXPECT_EQ(render_toml(without_built_in("no_such_key = 1")), "no_such_key = 1\n");
}

TEST(FillUnset, TakesOnlyFieldsThatTheHandlerHasNot) {
  Table handler = parse("runtime_type = 'r'\n[options]\nbinaryName = '/b'");
  fill_unset(handler,
             parse("runtime_type = 'other'\nsandbox_mode = 'podsandbox'\nsnapshotter = ''\n"
                   "[options]\nBinaryName = '/other'\nSystemdCgroup = true"));
  EXPECT_EQ(render_toml(handler),
            render_toml(parse("runtime_type = 'r'\nsandbox_mode = "
                              "'podsandbox'\n[options]\nbinaryName = '/b'\nSystemdCgroup = true")));
}

TEST(FillUnset, TakesTheOptionsWholeWhereThereAreNone) {
  Table handler = parse("runtime_type = 'r'");
  fill_unset(handler, parse("[options]\nSystemdCgroup = true"));
  EXPECT_EQ(test::shown(handler, "options"), "{ SystemdCgroup = true }");
}

}  // namespace
}  // namespace ctkit::engine::containerd
