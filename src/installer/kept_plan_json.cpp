#include <nlohmann/json.hpp>

#include "installer/kept_plan.h"

namespace ctkit::installer {

namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "ctkit/v1/kept-plan";

json to_json(const std::vector<FileDigest>& files) {
  json list = json::array();
  for (const FileDigest& file : files) {
    list.push_back({{"path", file.path}, {"sha256", file.digest.empty() ? json(nullptr) : json(file.digest)}});
  }
  return list;
}

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<std::string> texts_at(const json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const json& item : *found) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<FileDigest> files_at(const json& object, const char* key) {
  std::vector<FileDigest> files;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return files;
  for (const json& item : *found) {
    if (item.is_object()) files.push_back({.path = text_at(item, "path"), .digest = text_at(item, "sha256")});
  }
  return files;
}

}  // namespace

engine::Result<KeptPlan> parse_kept_plan(std::string_view text, std::string_view where) {
  const json document = json::parse(text, nullptr, false);
  const auto handlers = document.is_object() ? document.find("handlers") : document.end();
  if (!document.is_object() || text_at(document, "schema") != kSchema || handlers == document.end() ||
      !handlers->is_array()) {
    return std::unexpected(engine::Error{.code = engine::ErrorCode::usage,
                                         .message = "'" + std::string(where) + "' is no plan of `ctkit plan --out`",
                                         .where = std::string(where)});
  }
  KeptPlan plan{.engine = text_at(document, "engine"),
                .release = text_at(document, "release"),
                .config = text_at(document, "config"),
                .defaults = text_at(document, "defaults")};
  for (const json& handler : *handlers) {
    if (!handler.is_object()) continue;
    plan.desired.handlers.push_back({.name = text_at(handler, "name"),
                                     .binary = text_at(handler, "binary"),
                                     .type = text_at(handler, "type"),
                                     .annotations = texts_at(handler, "annotations")});
  }
  plan.desired.default_handler = text_at(document, "default_handler");
  plan.desired.enable_cdi = document.value("enable_cdi", json(false)) == json(true);
  plan.desired.drop_in = text_at(document, "drop_in");
  const std::string on_conflict = text_at(document, "on_conflict");
  using enum engine::OnConflict;
  plan.desired.on_conflict = on_conflict == "keep" ? keep : on_conflict == "refuse" ? refuse : restore;
  if (const auto hook = document.find("hook"); hook != document.end() && hook->is_object()) {
    plan.hook_mode = true;
    plan.hooks_folder = text_at(*hook, "folder");
    plan.hook_name = text_at(*hook, "name");
  }
  plan.inputs = files_at(document, "inputs");
  plan.outputs = files_at(document, "outputs");
  return plan;
}

std::string render_kept_plan(const KeptPlan& plan) {
  using enum engine::OnConflict;
  json handlers = json::array();
  for (const engine::DesiredHandler& handler : plan.desired.handlers) {
    handlers.push_back({{"name", handler.name},
                        {"binary", handler.binary},
                        {"type", handler.type},
                        {"annotations", handler.annotations}});
  }
  const char* on_conflict = plan.desired.on_conflict == keep     ? "keep"
                            : plan.desired.on_conflict == refuse ? "refuse"
                                                                 : "restore";
  json hook = nullptr;
  if (plan.hook_mode) hook = {{"folder", plan.hooks_folder}, {"name", plan.hook_name}};
  const json document = {{"schema", kSchema},
                         {"engine", plan.engine},
                         {"release", plan.release},
                         {"config", plan.config},
                         {"defaults", plan.defaults},
                         {"handlers", std::move(handlers)},
                         {"default_handler", plan.desired.default_handler},
                         {"enable_cdi", plan.desired.enable_cdi},
                         {"drop_in", plan.desired.drop_in},
                         {"on_conflict", on_conflict},
                         {"hook", std::move(hook)},
                         {"inputs", to_json(plan.inputs)},
                         {"outputs", to_json(plan.outputs)}};
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace ctkit::installer
