#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/result.h"
#include "installer/host.h"
#include "installer/journal.h"
#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// A name for an apply, from the time it began.
std::string make_token(std::int64_t time);

/// Sets the timer that takes this apply back on the host if nobody confirms it. The program for that is the toolkit
/// folder's `ctkit`, else ours if the host sees it, else a copy in the state folder; it is tried first. `journal` is
/// what is there now.
engine::Result<void> arm(const Request& request,
                         Host& host,
                         const LastApply& apply,
                         const std::optional<Journal>& journal);

/// Takes the timer and the copy away; what fails about it becomes a note.
void disarm(const Request& request, Host& host, NodeChange& change);

}  // namespace ctkit::installer
