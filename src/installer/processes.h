#pragma once

#include <cstdint>
#include <string>

#include "engine/result.h"
#include "installer/process_facts.h"

namespace ctkit::installer {

/// Seam: processes of the host, by their pid in our namespace.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  Processes(Processes&&) = delete;
  Processes& operator=(Processes&&) = delete;
  virtual ~Processes() = default;

  /// `not_found` if there is none of that number; `permission` if it isn't ours to look at.
  [[nodiscard]] virtual engine::Result<ProcessFacts> look_at(std::int64_t pid) = 0;

  /// The program that we are, as a path of our own root; `failed` if it can't be told.
  [[nodiscard]] virtual engine::Result<std::string> own_program() = 0;

  /// Its bytes.
  [[nodiscard]] virtual engine::Result<std::string> own_bytes() = 0;

  /// Whether the process sees the same files as we do: its root folder is ours.
  [[nodiscard]] virtual bool shares_our_root(std::int64_t pid) = 0;
};

}  // namespace ctkit::installer
