#pragma once

namespace ctkit::installer::host {

/// Has the memory that a usual run allocates mapped by one call: page by page, at its first use, it would cost a fault
/// each, a fifth of a run's time. Does nothing where the kernel (before 5.14) or the C library can't.
void map_usual_heap();

}  // namespace ctkit::installer::host
