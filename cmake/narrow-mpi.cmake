# Defines narrow::mpi, the library with <narrow/mpi.hpp>, where an MPI is found: for this project's build and for those
# that use the installed package.
if(NOT TARGET MPI::MPI_CXX)
  set(MPI_CXX_SKIP_MPICXX ON)  # MPI's own C++ interface, which the headers do without
  find_package(MPI COMPONENTS CXX QUIET)
endif()

if(TARGET MPI::MPI_CXX)
  unset(narrow_mpi_missing)
  if(NOT TARGET narrow::mpi)
    add_library(narrow::mpi INTERFACE IMPORTED GLOBAL)
    target_link_libraries(narrow::mpi INTERFACE narrow::narrow MPI::MPI_CXX)
  endif()
else()
  set(narrow_mpi_missing "no MPI was found (on Debian: libopenmpi-dev and openmpi-bin, or libmpich-dev and mpich)")
endif()
