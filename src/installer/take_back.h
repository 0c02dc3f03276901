#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "installer/journal.h"

namespace ctkit::installer {

/// One file of ours as it would be without us.
struct TakenBack {
  enum class How {
    restored,  ///< untouched since we wrote it: its bytes from before
    already,   ///< as before, or gone
    edited,    ///< others edited it since: only what is ours is taken out
    left,      ///< others edited it since, and nothing of ours was found in it, or it can't be read
  };
  std::string path = {};
  How how = How::restored;
  std::optional<std::string> present = std::nullopt;  ///< nothing: it isn't there
  std::optional<std::string> left = std::nullopt;     ///< nothing: it goes
  std::optional<unsigned> mode = std::nullopt;        ///< restored: its permission bits from before
};

/// Every file of the journal, the last written first. Fails where a file can't be read.
engine::Result<std::vector<TakenBack>> take_back(const engine::Engine& engine,
                                                 const engine::FileReader& files,
                                                 const Journal& journal);

}  // namespace ctkit::installer
