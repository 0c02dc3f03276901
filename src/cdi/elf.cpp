#include "cdi/elf.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ctkit::cdi {

using engine::Error;
using engine::Result;

namespace {

constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kMostSection = std::size_t{64} << 10U;
constexpr std::size_t kMostTable = std::size_t{1} << 20U;
constexpr std::size_t kHeader64 = 64;
constexpr std::size_t kHeader32 = 52;

Error bad(std::string_view path, const char* why) {
  return {.message = std::string("not a usable ELF file: ") + why, .where = std::string(path)};
}

/// A section's header, the fields we use.
struct Section {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
};

/// Bytes of an ELF file in its byte order and word size; reading past them gives zeros.
struct Layout {
  bool wide = true;
  bool little = true;

  std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size && at + i < bytes.size(); ++i) {
      const std::uint64_t byte = static_cast<unsigned char>(bytes[at + i]);
      value |= byte << (8 * (little ? i : size - 1 - i));
    }
    return value;
  }
  std::uint64_t word(std::string_view bytes, std::size_t at) const { return number(bytes, at, wide ? 8 : 4); }
};

class ElfFile {
 public:
  ElfFile(const Tree& tree, std::string_view path) : tree_(tree), path_(path) {}

  Result<void> open() {
    const auto header = tree_.read(path_, 0, kHeader64);
    if (!header) return std::unexpected(header.error());
    if (!header->starts_with("\x7F"
                             "ELF") ||
        header->size() < kHeader32)
      return std::unexpected(bad(path_, "no ELF header"));
    const char word_size = (*header)[4];
    const char order = (*header)[5];
    if ((word_size != 1 && word_size != 2) || (order != 1 && order != 2))
      return std::unexpected(bad(path_, "unknown class"));
    layout_ = {.wide = word_size == 2, .little = order == 1};
    const bool wide = layout_.wide;
    const std::uint64_t table = layout_.word(*header, wide ? 40 : 32);
    const std::uint64_t entry = layout_.number(*header, wide ? 58 : 46, 2);
    const std::uint64_t count = layout_.number(*header, wide ? 60 : 48, 2);
    names_section_ = layout_.number(*header, wide ? 62 : 50, 2);
    if (table == 0 || count == 0) return {};
    if (entry < (wide ? 64U : 40U)) return std::unexpected(bad(path_, "section headers too small"));
    const auto bytes = tree_.read(path_, table, std::min<std::size_t>(entry * count, kMostTable));
    if (!bytes) return std::unexpected(bytes.error());
    if (bytes->size() < entry * count) return std::unexpected(bad(path_, "the section headers are cut off"));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string_view one = std::string_view(*bytes).substr(i * entry, entry);
      sections_.push_back({.name = static_cast<std::uint32_t>(layout_.number(one, 0, 4)),
                           .type = static_cast<std::uint32_t>(layout_.number(one, 4, 4)),
                           .offset = layout_.word(one, wide ? 24 : 16),
                           .size = layout_.word(one, wide ? 32 : 20),
                           .link = static_cast<std::uint32_t>(layout_.number(one, wide ? 40 : 24, 4))});
    }
    return {};
  }

  const Layout& layout() const { return layout_; }
  const std::vector<Section>& sections() const { return sections_; }

  Result<std::string> bytes_of(const Section& section, std::size_t most) const {
    return tree_.read(path_, section.offset, static_cast<std::size_t>(std::min<std::uint64_t>(section.size, most)));
  }

  /// The text at the offset of a string table.
  std::string text_at(std::size_t table, std::uint64_t offset) const {
    if (table >= sections_.size() || offset >= sections_[table].size) return "";
    const std::uint64_t left = sections_[table].size - offset;
    const auto bytes = tree_.read(
        path_, sections_[table].offset + offset, static_cast<std::size_t>(std::min<std::uint64_t>(left, kLongestName)));
    return bytes ? bytes->substr(0, bytes->find('\0')) : "";
  }

  std::string name_of(const Section& section) const { return text_at(names_section_, section.name); }

 private:
  const Tree& tree_;
  std::string_view path_;
  Layout layout_ = {};
  std::size_t names_section_ = 0;
  std::vector<Section> sections_ = {};
};

}  // namespace

Result<std::string> read_soname(const Tree& tree, std::string_view path) {
  constexpr std::uint32_t kDynamicSection = 6;
  constexpr std::uint64_t kSoname = 14;
  ElfFile file(tree, path);
  if (auto opened = file.open(); !opened) return std::unexpected(opened.error());
  const Layout& layout = file.layout();
  for (const Section& section : file.sections()) {
    if (section.type != kDynamicSection) continue;
    const auto entries = file.bytes_of(section, kMostSection);
    if (!entries) return std::unexpected(entries.error());
    const std::size_t half = layout.wide ? 8 : 4;
    for (std::size_t at = 0; at + 2 * half <= entries->size(); at += 2 * half) {
      const std::uint64_t tag = layout.word(*entries, at);
      if (tag == 0) break;
      if (tag == kSoname) return file.text_at(section.link, layout.word(*entries, at + half));
    }
  }
  return "";
}

Result<std::string> read_elf_section(const Tree& tree, std::string_view path, std::string_view name) {
  ElfFile file(tree, path);
  if (auto opened = file.open(); !opened) return std::unexpected(opened.error());
  for (const Section& section : file.sections()) {
    if (file.name_of(section) == name) return file.bytes_of(section, kMostSection);
  }
  return "";
}

}  // namespace ctkit::cdi
