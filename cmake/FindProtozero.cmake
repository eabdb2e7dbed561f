# Finds protozero, headers that Debian 12 ships without a CMake package. Defines
# protozero::protozero. Its views are std::string_view.
find_path(Protozero_INCLUDE_DIR protozero/pbf_reader.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Protozero REQUIRED_VARS Protozero_INCLUDE_DIR)
mark_as_advanced(Protozero_INCLUDE_DIR)

if(Protozero_FOUND AND NOT TARGET protozero::protozero)
  add_library(protozero::protozero INTERFACE IMPORTED)
  set_target_properties(protozero::protozero PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Protozero_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "PROTOZERO_USE_VIEW=std::string_view")
endif()
