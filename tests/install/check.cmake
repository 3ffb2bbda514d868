# Configures, builds and runs the project in consumer/, which gets the library by WAY: `find_package` from a fresh
# installation, which is moved once more to show that it holds no path, or `add_subdirectory` from the source tree.
# EIGEN: `with`, or `without` any to be found.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
set(arguments -DWAY=${WAY} -DEIGEN=${EIGEN})
if(EIGEN STREQUAL without)
  list(APPEND arguments -DCMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
endif()

if(WAY STREQUAL find_package)
  run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/staged)
  file(RENAME ${WORK_DIR}/staged ${WORK_DIR}/prefix)
  file(GLOB installed RELATIVE ${WORK_DIR}/prefix ${WORK_DIR}/prefix/*/*)
  if(NOT installed STREQUAL "include/narrow;share/cmake;share/pkgconfig")
    message(FATAL_ERROR "the installation holds ${installed}")
  endif()
  list(APPEND arguments -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix -DVERSION=${VERSION})
else()
  list(APPEND arguments -DNARROW_SOURCE_DIR=${SOURCE_DIR})
endif()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS} ${arguments})
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/app/consumer_of_kernels)
run(${WORK_DIR}/build/app/consumer)
message(STATUS "${output}")
