#include "cdi/ld_cache.h"

#include <cstdint>
#include <string_view>

namespace ctkit::cdi {

namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kHeader = 48;
constexpr std::size_t kEntry = 24;

// The cache is in the byte order of its machine; ours are all little.
std::uint32_t number(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return value;
}

}  // namespace

std::vector<std::string> read_ld_cache(const Tree& tree) {
  const auto text = tree.read("/etc/ld.so.cache", 0, kMostBytes);
  if (!text) return {};
  // An old format may come first.
  const std::size_t start = text->find(kMagic);
  if (start == std::string::npos || text->size() - start < kHeader) return {};
  const std::string_view cache = std::string_view(*text).substr(start);
  const std::uint32_t count = number(cache, kMagic.size());
  if ((cache.size() - kHeader) / kEntry < count) return {};
  std::vector<std::string> paths;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t at = number(cache, kHeader + i * kEntry + 8);
    if (at >= cache.size()) continue;
    const std::string_view rest = cache.substr(at);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos || end == 0 || rest.front() != '/') continue;
    paths.emplace_back(rest.substr(0, end));
  }
  return paths;
}

}  // namespace ctkit::cdi
