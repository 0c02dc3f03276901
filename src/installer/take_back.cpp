#include "installer/take_back.h"

#include <utility>

namespace ctkit::installer {

engine::Result<std::vector<TakenBack>> take_back(const engine::Engine& engine,
                                                 const engine::FileReader& files,
                                                 const Journal& journal) {
  std::vector<TakenBack> list;
  for (auto entry = journal.files.rbegin(); entry != journal.files.rend(); ++entry) {
    const engine::FileChange& ours = entry->change;
    auto present = files.read(ours.path);
    if (!present && present.error().code != engine::ErrorCode::not_found) {
      return std::unexpected(present.error());
    }
    TakenBack file{.path = ours.path};
    if (present) file.present = *std::move(present);
    if (file.present == ours.before || !file.present) {
      file.how = TakenBack::How::already;
      file.left = file.present;
    } else if (file.present == ours.after || file.present == entry->earlier) {
      file.left = ours.before;
      file.mode = entry->mode;
    } else {
      auto undone = engine.undo(ours, *file.present);
      file.left = undone ? *std::move(undone) : file.present;
      file.how = file.left == file.present ? TakenBack::How::left : TakenBack::How::edited;
      if (!file.left) {
        // Nobody's statement but ours: what we replaced comes back.
        file.left = ours.before;
        file.mode = entry->mode;
      }
    }
    list.push_back(std::move(file));
  }
  return list;
}

}  // namespace ctkit::installer
