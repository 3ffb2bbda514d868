# cmake --build build --target package makes libnarrow-dev_<version>_all.deb: what is installed, and the files that Debian
# wants beside it, which nothing else installs.
set(debian_dir ${CMAKE_CURRENT_BINARY_DIR}/debian)
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc/libnarrow-dev)
set(contact "The narrow authors <maintainers@narrow.example>")  # whoever publishes the package: their own
set(NARROW_DEBIAN_MAINTAINER "${contact}" CACHE STRING "The maintainer of the package for Debian")

file(READ LICENSE licence)
string(REGEX MATCH "Copyright [^0-9]*([^\n]*)\n\n(.*[^\n])" matched "${licence}")
set(copyright ${CMAKE_MATCH_1})
string(REPLACE "\n\n" "\n.\n" terms "${CMAKE_MATCH_2}")
string(REPLACE "\n" "\n " terms " ${terms}")
file(CONFIGURE OUTPUT ${debian_dir}/copyright @ONLY CONTENT
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: narrow

Files: *
Copyright: @copyright@
License: Expat

License: Expat
@terms@
")

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(CONFIGURE OUTPUT ${debian_dir}/changelog @ONLY CONTENT
"libnarrow-dev (@PROJECT_VERSION@) unstable; urgency=medium

  * What changed: examples/guides/changes.md in the source.

 -- @NARROW_DEBIAN_MAINTAINER@  @date@
")
install(CODE "execute_process(COMMAND gzip -9nkf changelog WORKING_DIRECTORY \"${debian_dir}\" COMMAND_ERROR_IS_FATAL ANY)"
  COMPONENT narrow_debian EXCLUDE_FROM_ALL)
install(FILES ${debian_dir}/copyright ${debian_dir}/changelog.gz
  DESTINATION ${doc_dir} COMPONENT narrow_debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR narrow)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_COMPONENTS_ALL narrow narrow_debian)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_NAME libnarrow-dev)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${NARROW_DEBIAN_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libeigen3-dev (>= 3.4)")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION  # after that of the project
"C++20 headers: half precision, bfloat16, 8-bit and other floating-point
formats, fixed point and block formats, for arrays of a program's own and as
scalars of Eigen's matrices, for which package libeigen3-dev is needed.")
include(CPack)
