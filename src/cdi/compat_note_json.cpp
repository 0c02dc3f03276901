#include <nlohmann/json.hpp>

#include "cdi/cuda_compat.h"

namespace ctkit::cdi {

using nlohmann::json;

bool parse_compat_note(std::string_view section, CompatNote& note) {
  // An ELF note: sizes of name and text, a type, then both, each padded to 4 bytes. CUDA is
  // little-endian everywhere.
  constexpr std::size_t kHeader = 12;
  const auto number = [section](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
      value |= static_cast<std::size_t>(static_cast<unsigned char>(section[at + i])) << (8 * i);
    return value;
  };
  if (section.size() < kHeader) return false;
  const std::size_t name_size = number(0);
  const std::size_t text_size = number(4);
  const std::size_t text_at = kHeader + (name_size + 3) / 4 * 4;
  if (name_size > section.size() || text_at > section.size()) return false;
  const std::string_view name = section.substr(kHeader, name_size);
  if (name.substr(0, name.find('\0')) != "NVIDIA Corporation") return false;
  std::string_view text = section.substr(text_at, text_size);
  text = text.substr(0, text.find('\0'));
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return false;
  if (const auto cuda = object.find("CUDA Version"); cuda != object.end() && cuda->is_string()) {
    note.cuda_version = cuda->get<std::string>();
  }
  if (const auto drivers = object.find("Driver"); drivers != object.end() && drivers->is_array()) {
    for (const json& driver : *drivers) {
      if (driver.is_number_integer()) note.drivers.push_back(driver.get<int>());
    }
  }
  return true;
}

}  // namespace ctkit::cdi
