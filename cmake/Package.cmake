# What `cmake --install` lays down: libsluice.a with its public headers and CMake package,
# the daemon, and its unit file with the user and the folder that it needs.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The layers that limit in process: no socket, no HTTP. One archive, so that users link one
# thing and our layers stay our own business.
set(SLUICE_LIBRARY_LAYERS base core yaml rules telemetry store insight service)

set(objects)
set(links)
foreach(layer IN LISTS SLUICE_LIBRARY_LAYERS)
  get_target_property(type sluice_${layer} TYPE)
  if(type STREQUAL STATIC_LIBRARY)
    list(APPEND objects $<TARGET_OBJECTS:sluice_${layer}>)
  endif()
  get_target_property(layer_links sluice_${layer} SLUICE_LINKS)
  if(layer_links)
    list(APPEND links ${layer_links})
  endif()
endforeach()
list(REMOVE_DUPLICATES links)

add_library(sluice_library STATIC ${objects})
add_library(sluice::sluice ALIAS sluice_library)
set_target_properties(sluice_library PROPERTIES OUTPUT_NAME sluice EXPORT_NAME sluice
                                                LINKER_LANGUAGE CXX)
target_compile_features(sluice_library INTERFACE cxx_std_20)
target_include_directories(sluice_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(sluice_library INTERFACE tl::expected PRIVATE ${links})

install(TARGETS sluice_library EXPORT sluiceTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/sluice
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sluiceConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/sluiceConfig.cmake
                              INSTALL_DESTINATION ${package})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(EXPORT sluiceTargets NAMESPACE sluice:: DESTINATION ${package})
install(FILES ${PROJECT_BINARY_DIR}/sluiceConfig.cmake
              ${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindXxhash.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindRe2.cmake
        DESTINATION ${package})

install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Manual pages and completion scripts are the program's own texts, so the program writes them.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "No emulator runs the program here: no manual pages and completions are installed")
else()
  install(CODE "
    set(run ${CMAKE_CROSSCOMPILING_EMULATOR} \"$<TARGET_FILE:sluice>\")
    set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}\")
    # Where Debian's zsh looks: packages and administrators have different folders.
    if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
      set(zsh vendor-completions)
    else()
      set(zsh site-functions)
    endif()
    execute_process(COMMAND \${run} manual --to \${share}/man/man1 COMMAND_ERROR_IS_FATAL ANY)
    foreach(pair bash:bash-completion/completions/sluice zsh:zsh/\${zsh}/_sluice
                 fish:fish/vendor_completions.d/sluice.fish)
      string(REPLACE : \";\" pair \${pair})
      list(GET pair 0 shell)
      list(GET pair 1 path)
      get_filename_component(folder \${share}/\${path} DIRECTORY)
      file(MAKE_DIRECTORY \${folder})
      execute_process(COMMAND \${run} completion \${shell} OUTPUT_FILE \${share}/\${path}
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
endif()

# The unit names the daemon by its full path, which is known only when installing.
install(CODE "
  set(SLUICE_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  set(SLUICE_DOCDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/sluice.service.in\"
                 \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/sluice.service\" @ONLY)"
  COMPONENT service)
# The daemon's user and the table's folder: systemd-sysusers and systemd-tmpfiles make them.
foreach(kind sysusers tmpfiles)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/sluice.${kind} DESTINATION lib/${kind}.d
          RENAME sluice.conf COMPONENT service)
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
