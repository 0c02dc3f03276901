#include "toolkit/artifacts.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolkit/toolkit_fixture.h"

namespace ctkit::toolkit {
namespace {

using test::MemoryTree;

TEST(Artifacts, TheHostsPackageToolDecides) {
  MemoryTree source;
  source.add_folder("/artifacts/deb");
  source.add_folder("/artifacts/rpm");
  // Our own image has dpkg, which says nothing about the host.
  source.add_file("/usr/bin/dpkg", "");
  MemoryTree host;
  EXPECT_EQ(find_source_root("", PackageType::automatic, source, host), "/artifacts/deb");
  host.add_file("/usr/bin/rpm", "");
  EXPECT_EQ(find_source_root("", PackageType::automatic, source, host), "/artifacts/rpm");
  EXPECT_EQ(find_source_root("", PackageType::deb, source, host), "/artifacts/deb");
  // Debian has rpm as a tool for other people's packages.
  host.add_file("/usr/bin/dpkg", "");
  EXPECT_EQ(find_source_root("", PackageType::automatic, source, host), "/artifacts/deb");
  EXPECT_EQ(find_source_root("/artifacts/rpm/", PackageType::automatic, source, host), "/artifacts/rpm");
}

TEST(Artifacts, TheOneFolderThatIsThereIsTaken) {
  MemoryTree source;
  source.add_folder("/artifacts/rpm");
  const MemoryTree host;
  EXPECT_EQ(find_source_root("", PackageType::deb, source, host), "/artifacts/rpm");
  EXPECT_EQ(find_source_root("/none", PackageType::deb, source, host).error().code, engine::ErrorCode::not_found);
  EXPECT_FALSE(find_source_root("", PackageType::deb, host, host));
}

TEST(Artifacts, PackageTypesAreNvidias) {
  EXPECT_EQ(parse_package_type(""), PackageType::automatic);
  EXPECT_EQ(parse_package_type("auto"), PackageType::automatic);
  EXPECT_EQ(parse_package_type("rpm"), PackageType::rpm);
  EXPECT_EQ(parse_package_type("apk").error().code, engine::ErrorCode::usage);
}

TEST(Artifacts, LinksEndInsideTheArtifacts) {
  MemoryTree source;
  test::add_artifacts(source, "/artifacts/rpm", "1.20.0");
  source.add_file("/artifacts/rpm/opt/nvidia-ctk", "elsewhere", 0500);
  source.add_link("/artifacts/rpm/usr/bin/nvidia-ctk", "/opt/nvidia-ctk");
  const auto artifacts = find_artifacts(source, "/artifacts/rpm");
  ASSERT_TRUE(artifacts);
  EXPECT_EQ(artifacts->programs.front().path, "/artifacts/rpm/opt/nvidia-ctk");
  EXPECT_EQ(artifacts->programs.front().mode, 0500U);
  EXPECT_EQ(artifacts->version, "1.20.0");
  EXPECT_EQ(artifacts->libraries.front().name, "libnvidia-container.so.1.20.0");
}

}  // namespace
}  // namespace ctkit::toolkit
