#include "cdi/cuda_compat.h"

#include <algorithm>
#include <charconv>

#include "cdi/elf.h"
#include "cdi/path.h"
#include "cdi/real_paths.h"

namespace ctkit::cdi {

namespace {

/// The numbers between the dots; what is no number counts as 0.
std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  while (!version.empty()) {
    const std::size_t end = std::min(version.find('.'), version.size());
    int number = 0;
    std::from_chars(version.data(), version.data() + end, number);
    numbers.push_back(number);
    version.remove_prefix(std::min(end + 1, version.size()));
  }
  return numbers;
}

bool is_newer(std::string_view one, std::string_view other) {
  std::vector<int> left = numbers_of(one);
  std::vector<int> right = numbers_of(other);
  const std::size_t size = std::max(left.size(), right.size());
  left.resize(size);
  right.resize(size);
  return left > right;
}

int major_of(std::string_view version) {
  const std::vector<int> numbers = numbers_of(version);
  return numbers.empty() ? 0 : numbers.front();
}

bool is_useful(const CompatNote& note, std::string_view library, const HostVersions& host) {
  if (!host.driver.empty() && !note.drivers.empty()) {
    return std::ranges::find(note.drivers, major_of(host.driver)) != note.drivers.end() &&
           is_newer(library, host.driver);
  }
  return !note.cuda_version.empty() && !host.cuda.empty() && is_newer(note.cuda_version, host.cuda);
}

}  // namespace

CompatChoice choose_compat_folder(const Tree& container, std::string_view folder, const HostVersions& host) {
  constexpr std::string_view kLibrary = "libcuda.so.";
  CompatChoice choice;
  RealPaths paths(container);
  const auto real = paths.resolve(folder);
  if (!real) return choice;
  std::vector<std::string> libraries;
  for (const std::string& name : paths.names_in(real->path)) {
    if (matches(name, "libcuda.so.*.*") && paths.has_file(join(real->path, name)))
      libraries.push_back(join(real->path, name));
  }
  if (libraries.empty()) return choice;
  if (libraries.size() > 1) {
    choice.warnings.push_back("there is more than one CUDA compat library in '" + real->path + "'; none is used");
    return choice;
  }
  const std::string_view version = base_name(libraries.front()).substr(kLibrary.size());
  CompatNote note;
  const auto section = read_elf_section(container, libraries.front(), ".note.cuda.fwd_compatibility");
  if (!section) choice.warnings.push_back(section.error().message);
  const bool useful = section && parse_compat_note(*section, note)
                          ? is_useful(note, version, host)
                          : !host.driver.empty() && major_of(version) > major_of(host.driver);
  if (useful) choice.folder = real->path;
  return choice;
}

}  // namespace ctkit::cdi
