# Defines narrow::eigen, the library plugged into Eigen >= 3.4, where there is such an Eigen: for this project's
# build and for those that use the installed package.
#
# Eigen's own version files accept a request for one major version only, so the bound is checked here.
if(NOT TARGET Eigen3::Eigen)
  find_package(Eigen3 CONFIG QUIET)
endif()

if(NOT TARGET Eigen3::Eigen)
  set(narrow_eigen_missing "Eigen (3.4 or later) was not found")
elseif(Eigen3_VERSION AND Eigen3_VERSION VERSION_LESS 3.4)
  set(narrow_eigen_missing "Eigen 3.4 or later is needed, and ${Eigen3_VERSION} was found in ${Eigen3_DIR}")
else()
  unset(narrow_eigen_missing)
  if(NOT TARGET narrow::eigen)
    add_library(narrow::eigen INTERFACE IMPORTED GLOBAL)
    target_link_libraries(narrow::eigen INTERFACE narrow::narrow Eigen3::Eigen)
  endif()
endif()
