# Defines narrow::kernels: with it a program's kernels are compiled once, and not in each of its source files that uses
# some. For this project's build and for those that use the installed package.
if(NOT TARGET narrow::kernels)
  set(narrow_kernels_source ${CMAKE_CURRENT_BINARY_DIR}/narrow_kernels.cpp)
  file(CONFIGURE OUTPUT ${narrow_kernels_source} CONTENT "#include <narrow/compiled_kernels.hpp>\n")
  add_library(narrow_kernels STATIC EXCLUDE_FROM_ALL ${narrow_kernels_source})
  target_compile_definitions(narrow_kernels PUBLIC NARROW_COMPILED_KERNELS)
  target_link_libraries(narrow_kernels PUBLIC narrow::narrow)
  add_library(narrow::kernels ALIAS narrow_kernels)
endif()
