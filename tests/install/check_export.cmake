# Exports the libraries in exported/, and links them in a third project, user/, from an installation and from the folder
# in which they were built: for each of WAYS, `<way>.<installs>`, of which the first says how exported/ gets narrow, and
# the second whether what embeds narrow installs it with its own: `ON`, `OFF` or `default`.
#
# The ways take turns in the same folders, so that make compiles what differs from the way before and nothing else;
# what CMake writes, it writes anew.
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

set(arguments -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
set(exported ${WORK_DIR}/exported)
set(narrow_prefix ${WORK_DIR}/narrow)
set(prefix ${WORK_DIR}/prefix)

# configure_and_build(SOURCE BUILD ARGUMENT...)
function(configure_and_build source build)
  file(GLOB stale ${build}/CMakeCache.txt ${build}/*.cmake ${build}/narrow/*.cmake ${build}/_deps/narrow-build/*.cmake)
  if(stale)
    file(REMOVE ${stale})
  endif()
  run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${source} -B ${build} ${arguments} ${ARGN})
  run(${CMAKE_COMMAND} --build ${build} --parallel 2)
endfunction()

# check_user(BUILD EXPORTED_ROOT NARROW_ROOT): builds and runs the programs of user/.
function(check_user build exported_root narrow_root)
  configure_and_build(user ${build} -Dexported_ROOT=${exported_root} -Dnarrow_ROOT=${narrow_root})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --no-tests=error)
  string(REGEX MATCH "tests passed[^\n]*" passed "${output}")
  message(STATUS "${exported_root}: ${passed}")
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
foreach(case IN LISTS WAYS)
  message(STATUS "${case}")
  string(REPLACE "." ";" parts ${case})
  list(GET parts 0 way)
  list(GET parts 1 installs)
  file(REMOVE_RECURSE ${prefix} ${prefix}.moved ${narrow_prefix} ${narrow_prefix}.moved)
  set(exported_arguments -DWAY=${way} -DNARROW_SOURCE_DIR=${SOURCE_DIR})
  if(way STREQUAL find_package)
    run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${narrow_prefix})
    list(APPEND exported_arguments -DCMAKE_PREFIX_PATH=${narrow_prefix})
  elseif(NOT installs STREQUAL default)
    list(APPEND exported_arguments -DNARROW_INSTALL=${installs})
  endif()
  configure_and_build(exported ${exported} ${exported_arguments})
  run(${CMAKE_COMMAND} --install ${exported} --prefix ${prefix})

  # An embedded narrow is installed with the project that asks for it, else by its name. What is installed can be moved;
  # what was built stays where it is.
  if(installs STREQUAL ON)
    file(RENAME ${prefix} ${narrow_prefix}.moved)
    set(exported_root ${narrow_prefix}.moved)
  else()
    if(EXISTS ${prefix}/include/narrow OR EXISTS ${prefix}/share/cmake/narrow OR EXISTS ${prefix}/share/pkgconfig)
      message(FATAL_ERROR "narrow was installed, which nobody asked for")
    endif()
    if(NOT way STREQUAL find_package)
      run(${CMAKE_COMMAND} --install ${exported} --prefix ${narrow_prefix} --component narrow)
    endif()
    file(RENAME ${narrow_prefix} ${narrow_prefix}.moved)
    file(RENAME ${prefix} ${prefix}.moved)
    set(exported_root ${prefix}.moved)
  endif()
  check_user(${WORK_DIR}/user_of_installed ${exported_root} ${narrow_prefix}.moved)
  if(way STREQUAL find_package)
    check_user(${WORK_DIR}/user_of_installed ${exported} ${narrow_prefix}.moved)
  elseif(way STREQUAL FetchContent)
    check_user(${WORK_DIR}/user_of_built ${exported} ${exported}/_deps/narrow-build)
  else()
    check_user(${WORK_DIR}/user_of_built ${exported} ${exported}/narrow)
  endif()
endforeach()
