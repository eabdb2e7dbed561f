# sluice_add_layer(<name> DEPENDS <layer>... [LINKS <target>...] SOURCES <file>...)
#
# One folder of src/ is one layer and one static library. A layer sees its own
# headers, those of the layers in DEPENDS, and nothing else of ours. The linker
# holds .cc files to that; tools/check_layers.py holds #includes to it, reading
# the same DEPENDS lists, so that the rule is written once.
function(sluice_add_layer name)
  cmake_parse_arguments(arg "" "" "DEPENDS;LINKS;SOURCES" ${ARGN})
  if(arg_SOURCES)
    add_library(sluice_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
  else()
    add_library(sluice_${name} INTERFACE)  # A layer of headers.
    set(scope INTERFACE)
  endif()
  add_library(sluice::${name} ALIAS sluice_${name})
  target_include_directories(sluice_${name} ${scope} ${PROJECT_SOURCE_DIR}/include
                                                  ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(sluice_${name} ${scope} ${arg_LINKS})
  set_target_properties(sluice_${name} PROPERTIES SLUICE_LINKS "${arg_LINKS}")
  foreach(layer IN LISTS arg_DEPENDS)
    target_link_libraries(sluice_${name} ${scope} sluice::${layer})
  endforeach()
endfunction()
