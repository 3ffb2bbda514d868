# Runs the port of vcpkg as vcpkg does, with what its functions do here in their place: PORTFILE, ARCHIVE in the place of the
# download, PACKAGES_DIR, BUILD_DIR, VERSION.
cmake_minimum_required(VERSION 3.22)
set(PORT narrow)
set(CURRENT_PACKAGES_DIR ${PACKAGES_DIR})

function(vcpkg_from_github)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_SOURCE_PATH;REPO;REF;SHA512;HEAD_REF" "")
  file(SHA512 ${ARCHIVE} sum)
  if(NOT arg_SHA512 STREQUAL sum OR NOT arg_REF STREQUAL "v${VERSION}" OR NOT arg_REPO MATCHES "^[^@/]+/[^@/]+$")
    message(FATAL_ERROR "the source is told wrongly: ${ARGV}")
  endif()
  file(ARCHIVE_EXTRACT INPUT ${ARCHIVE} DESTINATION ${BUILD_DIR}/source)
  file(GLOB folder ${BUILD_DIR}/source/*)
  set(${arg_OUT_SOURCE_PATH} ${folder} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${arg_SOURCE_PATH} -B ${BUILD_DIR}/build ${arg_OPTIONS}
    -DCMAKE_INSTALL_PREFIX=${PACKAGES_DIR} -DCMAKE_INSTALL_LIBDIR=lib OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_install)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD_DIR}/build --target install OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_cmake_config_fixup)  # in its new folder the package stands one level higher
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "CONFIG_PATH" "")
  file(RENAME ${PACKAGES_DIR}/${arg_CONFIG_PATH} ${PACKAGES_DIR}/share/${PORT})
  file(REMOVE_RECURSE ${PACKAGES_DIR}/share/cmake)
  file(GLOB files ${PACKAGES_DIR}/share/${PORT}/*.cmake)
  foreach(file IN LISTS files)
    file(READ ${file} text)
    string(REGEX REPLACE [[(\(_IMPORT_PREFIX "\${_IMPORT_PREFIX}" PATH\))
get_filename_component\(_IMPORT_PREFIX "\${_IMPORT_PREFIX}" PATH\)
]] "\\1\n" text "${text}")
    string(REGEX REPLACE [[(PACKAGE_PREFIX_DIR "\${CMAKE_CURRENT_LIST_DIR})[./]+"]] "\\1/../..\"" text "${text}")
    file(WRITE ${file} "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  configure_file(${arg_FILE_LIST} ${PACKAGES_DIR}/share/${PORT}/copyright COPYONLY)
endfunction()

include(${PORTFILE})
