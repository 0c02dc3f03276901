#include "installer/host/cri_status.h"

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/await_status.h"
#include "installer/grpc_answer.h"
#include "installer/host/posix_command_runner.h"
#include "installer/host/system_clock.h"
#include "support/child_process.h"
#include "support/fake_cri.h"
#include "support/temp_folder.h"

// The real client against a real HTTP/2 server on a Unix socket, which gives what real daemons
// gave.

namespace ctkit::installer::host {
namespace {

using namespace std::literals;
using engine::ErrorCode;
using test::CriScript;
using test::FakeCri;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using Manners = CriScript::Manners;

constexpr auto kSocket = "/run/containerd/containerd.sock";
constexpr auto kShort = 50ms;
constexpr auto kLong = 30s;

std::string recorded(std::string_view daemon) {
  std::ifstream stream(TESTDATA + "/cri_status/"s + std::string(daemon) + ".bin", std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << daemon;
  return {std::istreambuf_iterator<char>(stream), {}};
}

class CriStatusTest : public testing::Test {
 protected:
  CriStatusTest() { folder.make_folder("run/containerd"); }

  TempFolder folder = {};
  std::string socket = folder.path_of("run/containerd/containerd.sock");
  std::unique_ptr<CriStatus> daemon = *CriStatus::open(folder.path(), kSocket);

  [[nodiscard]] engine::Result<LoadedState> ask(std::chrono::milliseconds time = kLong) const {
    return daemon->status(Moment::clock::now() + time);
  }

  [[nodiscard]] engine::Result<LoadedState> ask(CriScript script, std::chrono::milliseconds time = kLong) const {
    const FakeCri cri(socket, std::move(script));
    return ask(time);
  }
};

template <typename T>
std::string refusal_of(const engine::Result<T>& result) {
  return result ? "no error" : result.error().message;
}

template <typename T>
ErrorCode code_of(const engine::Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::usage : result.error().code;
}

/// CRI-O's answer to a verbose Status: an image and no handler.
std::string crio_status() {
  const std::string config = R"({"sandboxImage":"pause:3.10"})";
  const auto field = [](char tag, const std::string& bytes) {
    return std::string{tag, static_cast<char>(bytes.size())} + bytes;
  };
  return field(0x12, field(0x0a, "config") + field(0x12, config)) + field(0x1a, field(0x0a, "nvidia"));
}

TEST_F(CriStatusTest, CriOTellsItsHandlersOnTheSameSocket) {
  const FakeCri cri(socket,
                    {.body = frame_grpc_message(crio_status()),
                     .config = "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.nvidia]\n"
                               "runtime_path = \"/t/nvidia\"\n"});
  const auto state = ask();
  ASSERT_TRUE(state) << refusal_of(state);
  ASSERT_TRUE(state->find_handler("nvidia"));
  EXPECT_EQ(state->find_handler("nvidia")->binary_name, "/t/nvidia");
  EXPECT_EQ(state->default_handler, "crun");
}

TEST_F(CriStatusTest, CriOThatDoesntTellItsHandlersIsNoCriOWithout) {
  const auto state = ask({.body = frame_grpc_message(crio_status())});
  EXPECT_FALSE(state) << "a handler that nobody told us of would be one that a restart has to bring";
}

TEST_F(CriStatusTest, GivesWhatTheDaemonHasLoaded) {
  const FakeCri cri(socket, {.body = frame_grpc_message(recorded("containerd-1.7.24"))});
  const auto state = ask();
  ASSERT_TRUE(state) << refusal_of(state);
  ASSERT_TRUE(state->find_handler("nvidia"));
  EXPECT_EQ(state->find_handler("nvidia")->binary_name, "/usr/local/nvidia/toolkit/nvidia-container-runtime");
  EXPECT_EQ(state->default_handler, "runc");
  EXPECT_THAT(cri.calls(),
              ElementsAre("POST /runtime.v1.RuntimeService/Status application/grpc trailers 00000000020801"));
}

TEST_F(CriStatusTest, PutsTheAnswerTogether) {
  const auto state = ask({.body = frame_grpc_message(recorded("containerd-2.1.9")), .frame_size = 7});
  ASSERT_TRUE(state) << refusal_of(state);
  EXPECT_TRUE(state->find_handler("nvidia"));
}

TEST_F(CriStatusTest, DeadCriPluginIsNotAnAbsentDaemon) {
  const auto state = ask({.grpc_status = "12", .grpc_message = "unknown service runtime.v1.RuntimeService"});
  EXPECT_EQ(code_of(state), ErrorCode::not_found);
  EXPECT_EQ(refusal_of(state),
            "the daemon answers but doesn't serve the CRI: unknown service runtime.v1.RuntimeService");
  EXPECT_THAT(state.error().hint, HasSubstr("CRI plugin"));
  EXPECT_EQ(state.error().where, kSocket);
}

TEST_F(CriStatusTest, DaemonThatIsNotReadyIsUnreachable) {
  EXPECT_EQ(code_of(ask({.grpc_status = "14", .grpc_message = "starting"})), ErrorCode::unreachable);
  EXPECT_EQ(code_of(ask({.grpc_status = "2", .grpc_message = "server is not initialized yet"})),
            ErrorCode::unreachable);
}

TEST_F(CriStatusTest, MissingSocketIsUnreachable) {
  const auto state = ask();
  EXPECT_EQ(code_of(state), ErrorCode::unreachable);
  EXPECT_EQ(state.error().where, kSocket);
  EXPECT_EQ(code_of(daemon->peer()), ErrorCode::unreachable);
}

TEST_F(CriStatusTest, SocketWithoutListenerIsUnreachable) {
  test::listen_at(socket);  // and gone again; the file stays
  const auto state = ask();
  EXPECT_EQ(code_of(state), ErrorCode::unreachable);
  EXPECT_EQ(refusal_of(state), "cannot connect to the socket: connection refused");
}

TEST_F(CriStatusTest, FileInPlaceOfTheSocketIsUnreachable) {
  folder.write("run/containerd/containerd.sock", "");
  EXPECT_EQ(code_of(ask()), ErrorCode::unreachable);
}

TEST_F(CriStatusTest, SocketThatIsNotForUs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can lose its rights";
  const auto listener = test::listen_at(socket);
  ASSERT_EQ(::chmod(socket.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  const auto outcome = test::run_in_child([&] {
    test::drop_rights();
    return ask().error().code == ErrorCode::permission ? "permission"s : "another"s;
  });
  EXPECT_EQ(outcome, "permission");
}

TEST_F(CriStatusTest, SaysHowTheCallEnded) {
  const auto hung_up = ask({.manners = Manners::hangs_up});
  EXPECT_EQ(code_of(hung_up), ErrorCode::unreachable);
  EXPECT_EQ(refusal_of(hung_up), "the daemon gave no answer: it closed the connection");

  const auto reset = ask({.manners = Manners::resets});
  EXPECT_EQ(code_of(reset), ErrorCode::unreachable);
  EXPECT_EQ(refusal_of(reset), "the daemon gave no answer: it ended the call with HTTP/2's INTERNAL_ERROR");

  const auto gone = ask({.manners = Manners::goes_away});
  EXPECT_EQ(code_of(gone), ErrorCode::unreachable);
}

TEST_F(CriStatusTest, NeverWaitsPastTheDeadline) {
  for (const auto manners : {Manners::mute, Manners::floods}) {
    const auto state = ask({.manners = manners}, kShort);
    EXPECT_EQ(code_of(state), ErrorCode::unreachable);
    EXPECT_EQ(refusal_of(state), "the daemon gave no answer: it takes too long");
  }
}

TEST_F(CriStatusTest, NeverWaitsLongerForAFullQueue) {
  const auto listener = test::listen_at(socket, 0);  // nobody accepts
  EXPECT_EQ(refusal_of(ask(kShort)), "the daemon gave no answer: it takes too long");
  const auto queued = ask(kShort);
  EXPECT_EQ(code_of(queued), ErrorCode::unreachable);
  EXPECT_EQ(refusal_of(queued), "cannot connect to the socket: connection timed out");
}

TEST_F(CriStatusTest, TellsAnotherServerFromADaemon) {
  const auto http1 = ask({.manners = Manners::speaks_http1});
  EXPECT_EQ(code_of(http1), ErrorCode::failed);
  EXPECT_THAT(refusal_of(http1), HasSubstr("doesn't speak HTTP/2"));

  const auto web = ask({.body = "<html>", .grpc_status = "", .http_status = "404", .content_type = "text/html"});
  EXPECT_EQ(code_of(web), ErrorCode::failed);
  EXPECT_EQ(refusal_of(web), "whoever listens doesn't speak gRPC (HTTP status '404', content type 'text/html')");
}

TEST_F(CriStatusTest, RefusesAnswersWithoutMeasure) {
  const auto state = ask({.body = std::string((std::size_t{16} << 20U) + 1, '\0')});
  EXPECT_EQ(code_of(state), ErrorCode::failed);
  EXPECT_EQ(refusal_of(state), "the daemon's answer is larger than 16 MiB");
}

TEST_F(CriStatusTest, RefusesNonsense) {
  EXPECT_EQ(code_of(ask({.body = frame_grpc_message("\xff\xff")})), ErrorCode::failed);
  EXPECT_EQ(code_of(ask({.body = "\0\0\0\0\x09short"s})), ErrorCode::failed);
}

TEST_F(CriStatusTest, LongPathsAndLinksAreFollowedInsideTheRoot) {
  const std::string deep = "run/" + std::string(120, 'x');
  folder.make_folder(deep);
  const FakeCri cri(folder.path_of("s"), {.body = frame_grpc_message(recorded("containerd-1.6.20"))});
  folder.link(deep + "/containerd.sock", "/s");
  const auto far = CriStatus::open(folder.path(), "/" + deep + "/containerd.sock");
  const auto state = (*far)->status(Moment::clock::now() + kLong);
  EXPECT_TRUE(state) << refusal_of(state);
}

TEST_F(CriStatusTest, NamesTheProcessBehindTheSocket) {
  const auto listener = test::listen_at(socket);
  const auto peer = daemon->peer();
  ASSERT_TRUE(peer) << refusal_of(peer);
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_GT(peer->start_ticks, 0);
  // Started before now, and this program runs for less than a day.
  const std::int64_t now = SystemClock().real_time();
  EXPECT_LE(peer->started, now + 20'000);
  EXPECT_GT(peer->started, now - 86'400'000'000);
  EXPECT_EQ(daemon->peer()->start_ticks, peer->start_ticks);
}

}  // namespace
}  // namespace ctkit::installer::host
