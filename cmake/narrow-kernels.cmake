# Defines narrow::kernels: with it a program's kernels are compiled once, and not in each of its source files that uses
# some. For this project's build and for those that use the installed package.
#
# It is imported, so that a library which links it can be exported: what it stands for is compiled anew in each build
# that links it, and is in no package. A shared library may contain it.
if(NOT TARGET narrow::kernels)
  # The two parts of <narrow/compiled_kernels.hpp>, which are compiled side by side.
  set(narrow_kernels_sources "")
  foreach(part simd/compiled_kernels kernel/compiled_products)
    get_filename_component(name ${part} NAME)
    list(APPEND narrow_kernels_sources ${CMAKE_CURRENT_BINARY_DIR}/narrow_${name}.cpp)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/narrow_${name}.cpp CONTENT "#include <narrow/${part}.hpp>\n")
  endforeach()
  # Their loops are those of the kernels: more than -O2 takes twice as long, for products that are up to 7 % faster or 5 %
  # slower.
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/narrow_compiled_products.cpp
    PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O2>)
  add_library(narrow_kernels STATIC EXCLUDE_FROM_ALL ${narrow_kernels_sources})
  set_target_properties(narrow_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_definitions(narrow_kernels PUBLIC NARROW_COMPILED_KERNELS)
  target_link_libraries(narrow_kernels PUBLIC narrow::narrow)
  add_library(narrow::kernels INTERFACE IMPORTED GLOBAL)
  target_link_libraries(narrow::kernels INTERFACE narrow_kernels)
endif()
