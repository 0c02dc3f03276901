#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/file_reader.h"

namespace ctkit::installer {

/// Owner, permission bits and label that a replaced file keeps or a new one gets.
struct FileMode {
  unsigned mode = 0644;       ///< permission bits of a new file
  bool for_existing = false;  ///< a file that is there gets them too, and loses its ACL
  const std::optional<std::string>* instead_of =
      nullptr;               ///< what has to be there, no file or that text; null: anything
  bool stage_above = false;  ///< the file's folder must never show its content under a second name, not for a moment:
                             ///< it stands in the folder above, if that is of the same mount
};

/// What a replace that was killed may leave beside the file, or in the folder above: whole content under a name that
/// the next replace in the folder removes.
inline bool is_leftover_name(std::string_view name) {
  constexpr std::string_view kPrefix = ".ctkit-";
  constexpr std::size_t kDigitCount = 16;
  return name.starts_with(kPrefix) && name.size() == kPrefix.size() + kDigitCount &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

/// Seam: what `apply` does to the host's files. Paths are the host's, resolved inside the host root.
class FileSystem : public engine::FileReader {
 public:
  /// Replaces or creates the file, durably and at once: readers see the old bytes or the new ones. A link is kept and
  /// its target replaced (inside the root). An existing file keeps owner, mode and label; a new one gets `mode`.
  /// `not_found` if its folder is missing. `failed`, and nothing is replaced, if `mode.instead_of` is not what is
  /// there. After an error the file is as before, except when only syncing its folder failed.
  [[nodiscard]] virtual engine::Result<void> replace(std::string_view path, std::string_view text, FileMode mode) = 0;

  /// Removes the file (a link itself, not its target), durably. `not_found` if it is not there.
  [[nodiscard]] virtual engine::Result<void> remove(std::string_view path) = 0;

  /// Creates the folder and its missing parents, mode 0755; returns the topmost one created, or "" if all were there.
  /// After an error none of them is left.
  [[nodiscard]] virtual engine::Result<std::string> make_folders(std::string_view folder) = 0;

  /// Removes the folder if it is empty; false if it is not. `not_found` also for a file or a link.
  [[nodiscard]] virtual engine::Result<bool> remove_folder(std::string_view folder) = 0;

  /// One changer of this host at a time: held until the result is let go. `locked` if somebody else has it.
  [[nodiscard]] virtual engine::Result<std::shared_ptr<void>> lock() = 0;

  /// The same by a file of its own, which is made with its folders if need be and stays; its content is left alone.
  [[nodiscard]] virtual engine::Result<std::shared_ptr<void>> lock_file(std::string_view path) = 0;

  /// The permission bits of the file, followed through links. `not_found`.
  [[nodiscard]] virtual engine::Result<unsigned> mode_of(std::string_view path) const = 0;

  /// When its content was last changed, in microseconds since the epoch; followed through links. `not_found`.
  [[nodiscard]] virtual engine::Result<std::int64_t> modified(std::string_view path) const = 0;
};

}  // namespace ctkit::installer
