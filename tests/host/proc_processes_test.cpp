#include "installer/host/proc_processes.h"

#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

namespace ctkit::installer::host {
namespace {

TEST(ProcProcesses, TellsAboutUsWhatWeKnow) {
  ProcProcesses processes;
  const auto facts = processes.look_at(::getpid());
  ASSERT_TRUE(facts) << facts.error().message;
  EXPECT_EQ(facts->executable, std::filesystem::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(facts->working_folder, std::filesystem::current_path().string());
  EXPECT_FALSE(facts->argv.empty());
  EXPECT_EQ(facts->program.size, static_cast<std::int64_t>(std::filesystem::file_size(facts->executable)));
  EXPECT_GT(facts->own_pid, 0);
  EXPECT_TRUE(processes.shares_our_root(::getpid()));
  EXPECT_EQ(processes.own_program().value(), facts->executable);
  EXPECT_EQ(static_cast<std::int64_t>(processes.own_bytes()->size()), facts->program.size);
}

TEST(ProcProcesses, AProcessThatIsGoneIsNotFound) {
  // Above the kernel's limit of four million.
  constexpr std::int64_t kNobody = 4'194'305;
  ProcProcesses processes;
  const auto facts = processes.look_at(kNobody);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, engine::ErrorCode::not_found);
  EXPECT_FALSE(processes.shares_our_root(kNobody));
}

}  // namespace
}  // namespace ctkit::installer::host
