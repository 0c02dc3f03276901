# What a start costs is mostly page faults: few pages are to be read, and fewer written.
include(CheckCXXSourceCompiles)

# pack_relocations(TARGET): those of a position independent program in a tenth of the room. The C library has to know them,
# which it does from 2.36 on; a program that was built beside such a one wants no older one in any case.
check_cxx_source_compiles("#include <features.h>
  #if !__GLIBC_PREREQ(2, 36)
  #error
  #endif
  int main() {}" CTKIT_PACKED_RELOCATIONS)

function(pack_relocations target)
  if(CTKIT_PACKED_RELOCATIONS)
    target_link_options(${target} PRIVATE -Wl,-z,pack-relative-relocs)
  endif()
endfunction()

# link_in_start_order(TARGET): what a start runs stands side by side in the program, so that it touches few pages.
#
# The list is made by `./run order-text`. Only lld takes one (GNU ld does from 2.43 on); without it the program is the same,
# but a start takes a millisecond and 2.5 MB more.
find_program(CTKIT_LLD NAMES ld.lld-19 ld.lld)

function(link_in_start_order target)
  if(NOT CTKIT_LLD)
    message(STATUS "ld.lld is not here: ${target} starts more slowly (install lld-19)")
    return()
  endif()
  # GCC looks for a program called ld.lld in the folders that it is given.
  get_filename_component(program ${CTKIT_LLD} REALPATH)
  get_filename_component(folder ${program} DIRECTORY)
  set(order ${CMAKE_CURRENT_SOURCE_DIR}/cmake/text_order.txt)
  target_link_options(${target} PRIVATE -fuse-ld=lld -B${folder}
    -Wl,--symbol-ordering-file=${order} -Wl,--no-warn-symbol-ordering
    # Constants beside the code, in one mapping: a start maps one piece less, and where the kernel caches the file in huge
    # pages it maps all of it at once.
    -Wl,--no-rosegment
    # Written and not mapped, its pages are cached in large folios from the first start on, like those of a copied file.
    -Wl,--no-mmap-output-file)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${order})
endfunction()
