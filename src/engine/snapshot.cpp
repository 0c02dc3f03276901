#include "engine/snapshot.h"

#include <utility>

namespace ctkit::engine {

namespace {

/// What was answered for the path; asked for now if it is the first time.
template <typename Answers, typename Ask>
auto first_answer(Answers& answers, std::string_view path, Ask ask) {
  auto known = answers.find(path);
  if (known == answers.end()) known = answers.emplace(std::string(path), ask(path)).first;
  return known->second;
}

}  // namespace

Result<std::string> Snapshot::read(std::string_view path) const {
  return first_answer(texts_, path, [this](std::string_view asked) { return base_.read(asked); });
}

Result<std::vector<std::string>> Snapshot::list(std::string_view folder) const {
  return first_answer(names_, folder, [this](std::string_view asked) { return base_.list(asked); });
}

bool Snapshot::exists(std::string_view path) const {
  return first_answer(exist_, path, [this](std::string_view asked) { return base_.exists(asked); });
}

std::optional<std::string> Snapshot::link_target(std::string_view path) const {
  return first_answer(links_, path, [this](std::string_view asked) { return base_.link_target(asked); });
}

}  // namespace ctkit::engine
