#include "installer/host/heap.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ctkit::installer::host {

namespace {

/// What `effective` and `plan` allocate on a node with a handful of files; bench/ counts the faults.
constexpr std::size_t kUsual = 192UL * 1024;

}  // namespace

void map_usual_heap() {
#ifdef MADV_POPULATE_WRITE
  // From the heap, not from a mapping of its own, and the heap keeps it.
  mallopt(M_MMAP_THRESHOLD, 2 * kUsual);
  mallopt(M_TRIM_THRESHOLD, 8 * kUsual);
  void* const block = std::malloc(kUsual);
  if (!block) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + kUsual) / page * page;
  static_cast<void>(madvise(reinterpret_cast<void*>(first), last - first, MADV_POPULATE_WRITE));
  std::free(block);
#endif
}

}  // namespace ctkit::installer::host
