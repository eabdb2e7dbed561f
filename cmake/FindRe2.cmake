# Finds RE2, which Debian 12 ships without a CMake package. Defines re2::re2.
find_path(Re2_INCLUDE_DIR re2/re2.h)
find_library(Re2_LIBRARY re2)
find_package(Threads QUIET)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Re2 REQUIRED_VARS Re2_LIBRARY Re2_INCLUDE_DIR Threads_FOUND)
mark_as_advanced(Re2_INCLUDE_DIR Re2_LIBRARY)

if(Re2_FOUND AND NOT TARGET re2::re2)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES
    IMPORTED_LOCATION "${Re2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Re2_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
