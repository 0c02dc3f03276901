#include "daemonset/pass_report.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using testing::HasSubstr;

PassReport full() {
  return {
      .end = PassReport::End::settled,
      .exit_code = 3,
      .message = "two\nlines\tand a tab \\n",
      .changed = true,
      .took_back = true,
      .ready = true,
      .not_ready = "because",
      .drift = {"one", "", "three\n"},
      .handlers_wanted = 3,
      .handlers_ready = 2,
      .restarts = 7,
      .apply_microseconds = 1234567,
      .looked_at_driver = true,
      .driver_ready = true,
      .driver_version = "580.95.05",
      .spec_current = true,
      .daemon_pid = 4242,
      .driver_ready_text = "A=1\nB=2\n",
      .watch = {{.on_host = true, .folder = "/etc/with\nline", .prefix = "x"}, {.on_host = false, .folder = "/dev"}}};
}

TEST(PassReport, ComesBackAsItWas) {
  EXPECT_EQ(parse_pass_report(render_pass_report(full())), full());
  EXPECT_EQ(parse_pass_report(render_pass_report({})), PassReport{});
}

TEST(PassReport, ItsSummaryIsOneLine) {
  EXPECT_EQ(render_summary({.end = PassReport::End::settled, .ready = true, .handlers_wanted = 3, .handlers_ready = 3}),
            "settled, drift: 0, handlers: 3 of 3, ready");
  EXPECT_EQ(render_summary({.changed = true, .took_back = true, .not_ready = "no", .drift = {"x"}}),
            "failed, what was changed was taken back, drift: 1, handlers: 0 of 0, not ready: no");
  EXPECT_EQ(render_summary({.end = PassReport::End::waiting, .changed = true, .not_ready = "waiting for it"}),
            "waiting, something was changed, drift: 0, handlers: 0 of 0, not ready: waiting for it");
}

TEST(PassReport, OneThatIsCutOffHasFailed) {
  const std::string text = render_pass_report(full());
  for (std::size_t length = 0; length < text.size(); ++length) {
    const PassReport report = parse_pass_report(text.substr(0, length));
    EXPECT_EQ(report.end, PassReport::End::failed) << length;
    EXPECT_EQ(report.exit_code, 1);
    EXPECT_FALSE(report.ready);
    EXPECT_THAT(report.message, HasSubstr("without a report"));
  }
}

TEST(PassReport, NonsenseHasFailed) {
  for (const std::string text : {"\n", "end\tsplendid\n", "watch\t1\n", "ready\t1\n"})
    EXPECT_EQ(parse_pass_report(text).end, PassReport::End::failed) << text;
}

}  // namespace
}  // namespace ctkit::daemonset
