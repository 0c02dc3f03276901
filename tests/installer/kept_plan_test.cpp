#include "installer/kept_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"
#include "installer/plan_file.h"
#include "installer/sha256.h"

namespace ctkit::installer {
namespace {

using engine::ErrorCode;
using testing::HasSubstr;

// FIPS 180-2's examples, and lengths around the padding's border.
TEST(Sha256, KnowsTheStandardsExamples) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

class KeptPlanTest : public testing::Test {
 protected:
  test::MemoryFiles files = test::incident();
  std::unique_ptr<engine::Engine> engine = test::make_engine<test::LastContainerd>("1.7.27");

  /// `plan --out`, as main does it, by way of the text.
  Request planned() {
    Request request = test::make_request(Verb::plan);
    const auto outcome = test::run(request, *engine, files);
    const std::string text = render_kept_plan(make_kept_plan(request, *outcome->plan, files));
    const auto kept = parse_kept_plan(text, "plan.json");
    EXPECT_EQ(test::error_of(kept), "");
    request.verb = Verb::apply;
    request.desired = kept->desired;
    request.kept_plan = *kept;
    return request;
  }
};

TEST_F(KeptPlanTest, IsAppliedWhileNothingChanged) {
  const Request request = planned();
  ASSERT_EQ(test::error_of(test::run(request, *engine, files)), "");
  EXPECT_TRUE(files.exists(test::kLastDropIn));
}

TEST_F(KeptPlanTest, AnInputThatChangedNeedsADecision) {
  const Request request = planned();
  files.add_file("/etc/containerd/conf.d/registry.toml", "version = 2\n");
  const auto outcome = test::run(request, *engine, files);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(outcome.error().message, HasSubstr("registry.toml"));
  EXPECT_FALSE(files.exists(test::kLastDropIn));
}

TEST_F(KeptPlanTest, AFileThatCameNeedsADecision) {
  const Request request = planned();
  files.add_file("/etc/containerd/conf.d/60-later.toml", "version = 2\n[debug]\nlevel = \"warn\"\n");
  const auto outcome = test::run(request, *engine, files);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("60-later.toml"));
}

TEST_F(KeptPlanTest, AnotherReleaseNeedsADecision) {
  const Request request = planned();
  const auto later = test::make_engine<test::LastContainerd>("2.1.4");
  const auto outcome = test::run(request, *later, files);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(outcome.error().message, HasSubstr("2.1.4"));
}

TEST_F(KeptPlanTest, KeepsWhatWasAskedFor) {
  Request request = test::make_request(Verb::plan);
  request.desired.enable_cdi = true;
  request.desired.default_handler = "nvidia";
  request.desired.handlers.front().annotations = {"cdi.k8s.io/*"};
  const auto outcome = test::run(request, *engine, files);
  ASSERT_EQ(test::error_of(outcome), "");
  const auto kept = parse_kept_plan(render_kept_plan(make_kept_plan(request, *outcome->plan, files)), "plan.json");
  ASSERT_EQ(test::error_of(kept), "");
  EXPECT_TRUE(kept->desired.enable_cdi);
  EXPECT_EQ(kept->desired.default_handler, "nvidia");
  EXPECT_EQ(kept->desired.handlers, request.desired.handlers);
}

TEST_F(KeptPlanTest, HoldsNoTextOfAFile) {
  files.add_file(
      "/etc/containerd/conf.d/20-auth.toml",
      "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry.configs.x.auth]\npassword = \"geheim\"\n");
  Request request = test::make_request(Verb::plan);
  const auto outcome = test::run(request, *engine, files);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_THAT(render_kept_plan(make_kept_plan(request, *outcome->plan, files)), testing::Not(HasSubstr("geheim")));
}

TEST(KeptPlan, AnythingElseIsAMistake) {
  for (const char* text : {"", "[]", "{}", "{\"schema\": \"ctkit/v1/plan\"}"}) {
    const auto kept = parse_kept_plan(text, "x.json");
    ASSERT_FALSE(kept) << text;
    EXPECT_EQ(kept.error().code, ErrorCode::usage);
  }
}

}  // namespace
}  // namespace ctkit::installer
