#include "engine/containerd/own_check.h"

#include <utility>

#include "engine/change.h"
#include "engine/containerd/dump_writer.h"
#include "engine/containerd/go_path.h"
#include "engine/containerd/root_imports.h"
#include "engine/toml_reader.h"
#include "engine/toml_writer.h"

namespace ctkit::engine::containerd {

namespace {

std::string absolute(const std::string& path, const std::string& folder) {
  return is_absolute(path) ? clean(path) : join(folder, path);
}

/// Where an import leads, from the file that has it: see load(), rule 2.
std::string import_target(const std::string& import,
                          const std::string& importer,
                          const Regime& regime,
                          const std::string& working_folder) {
  const bool from_working_folder = !regime.globs_from_importer && import.contains('*');
  return absolute(import, from_working_folder ? working_folder : dir(importer));
}

}  // namespace

Result<std::vector<StagedFile>> ContainerdOwnCheck::stage(const FileReader& files, const std::string& folder) const {
  const auto effective = containerd::effective(daemon_, files, request_, false);
  if (!effective) return std::unexpected(effective.error());
  const Regime& regime = daemon_.known.regime;
  const std::string root_path = absolute(request_.config_path, request_.working_folder);
  std::vector<StagedFile> staged;
  for (const Layer& layer : effective->layers) {
    const std::string path = absolute(layer.path, request_.working_folder);
    auto text = files.read(path);
    if (!text) return std::unexpected(text.error());
    const auto scanned = scan_root(*text, path, *regime.dialect);
    if (!scanned) return std::unexpected(scanned.error());
    if (const Value* imports = find(layer.table, "imports"); scanned->imports && imports && imports->array()) {
      std::string list;
      for (const Value& import : *imports->array()) {
        if (!import.string()) continue;
        const std::string target = import_target(*import.string(), path, regime, request_.working_folder);
        list += (list.empty() ? "" : ", ") + quote_string(folder + target);
      }
      const Span span = scanned->imports->statement.value;
      text->replace(span.begin, span.end - span.begin, "[" + list + "]");
    }
    StagedFile file{.path = folder + path, .text = *std::move(text)};
    staged.insert(path == root_path ? staged.begin() : staged.end(), std::move(file));
  }
  return staged;
}

Result<std::vector<Mismatch>> ContainerdOwnCheck::compare(const FileReader& files, std::string_view answer) const {
  const auto effective = containerd::effective(daemon_, files, request_, false);
  if (!effective) return std::unexpected(effective.error());
  const TomlDialect& dialect = *daemon_.known.regime.dialect;
  // Both by way of the text: what a dump can't tell apart is not compared.
  auto ours = read_toml(render_dump(effective->config, daemon_.known), "the prediction", dialect);
  if (!ours) return std::unexpected(ours.error());
  auto theirs = read_toml(answer, "the daemon's own config dump", dialect);
  if (!theirs) return std::unexpected(theirs.error());
  ours->erase("imports");
  theirs->erase("imports");
  std::vector<Mismatch> list;
  for (const Change& change : differences(*ours, *theirs)) {
    Mismatch mismatch{.key = change.key};
    if (change.before) mismatch.predicted = *change.before;
    if (change.after) mismatch.answered = *change.after;
    list.push_back(std::move(mismatch));
  }
  return list;
}

}  // namespace ctkit::engine::containerd
