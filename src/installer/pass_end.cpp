#include "installer/pass_end.h"

#include <utility>

#include "installer/exit_code.h"

namespace ctkit::installer {

using daemonset::PassReport;
using engine::Error;

std::string in_words(const Error& error) {
  std::string text = error.message;
  if (!error.where.empty()) text += " (" + error.where + ")";
  if (!error.hint.empty()) text += "; " + error.hint;
  return text;
}

void end_failed(PassReport& report, const Error& error) {
  report.end = PassReport::End::failed;
  report.exit_code = static_cast<int>(exit_code(error.code));
  report.message = in_words(error);
  report.not_ready = report.message;
}

void end_waiting(PassReport& report, std::string what) {
  report.end = PassReport::End::waiting;
  report.exit_code = static_cast<int>(ExitCode::failed);
  report.message = std::move(what);
  report.not_ready = "waiting for " + report.message;
}

}  // namespace ctkit::installer
