#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "daemonset/watch_item.h"

namespace ctkit::daemonset {

/// What one pass over the node found and did, as the process that makes it tells the one that holds. A pass that ends
/// without a whole report has failed.
struct PassReport {
  enum class End {
    settled,  ///< all there is to do is done, or reported
    waiting,  ///< the driver isn't ready; nothing was done beyond what doesn't need it
    failed,
  };
  End end = End::failed;
  int exit_code = 1;                      ///< what the program would end with now
  std::string message = {};               ///< waiting: what for; failed: why
  bool changed = false;                   ///< files of ours or of the daemon were written, or it was restarted
  std::vector<std::string> written = {};  ///< beginnings of paths that the pass itself wrote
  bool took_back = false;      ///< the change didn't hold: trying it again would only restart the daemon again
  bool ready = false;          ///< the daemon itself says that it serves our handlers, and all else is as it should be
  std::string not_ready = {};  ///< why not
  std::vector<std::string> drift = {};  ///< what was, and in `look` still is, other than we set it up
  long handlers_wanted = -1;            ///< -1: the pass ended before it knew
  long handlers_ready = 0;
  long restarts = -1;                    ///< of the daemon, that we caused since we are on this node; -1: as above
  std::int64_t apply_microseconds = -1;  ///< what the writing, restarting and verifying took; -1: there was none
  bool looked_at_driver = false;         ///< what follows was seen, up to the spec
  bool driver_ready = false;
  std::string driver_version = {};     ///< of the loaded module
  bool spec_current = false;           ///< the CDI spec is that of the driver
  std::int64_t daemon_pid = -1;        ///< 0: none was found; -1: nobody has looked
  std::string driver_ready_text = {};  ///< the operator's file, when it was last whole
  std::vector<WatchItem> watch = {};

  /// What was changed is still so.
  [[nodiscard]] bool repaired() const { return changed && !took_back; }
  bool operator==(const PassReport&) const = default;
};

/// For the log, on one line: how it ended, what it did, what the daemon serves, and why the node isn't ready.
std::string render_summary(const PassReport& report);

/// Lines of a name and a value.
std::string render_pass_report(const PassReport& report);

/// A failed one, with a message, from anything that isn't whole.
PassReport parse_pass_report(std::string_view text);

}  // namespace ctkit::daemonset
