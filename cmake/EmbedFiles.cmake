# cmake -DFILES=<a;b> -DFOLDER=<folder> -DOUT=<file.cc> -DDECLARES=<header> -DNAME=<sluice::...::kName>
#       -P EmbedFiles.cmake
#
# Writes a source that defines the std::array NAME, declared in the header as of EmbeddedFile: the
# name of each file, below FOLDER, and its text. A file that is elsewhere (../other/a.js) has its last
# name. The array has to have room for exactly these files.
set(rows)
list(LENGTH FILES count)
foreach(name IN LISTS FILES)
  file(READ ${FOLDER}/${name} text)
  string(FIND "${text}" ")embedded\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${name} holds the end of a literal")
  endif()
  string(REGEX REPLACE "^(\\.\\./)+.*/" "" name ${name})
  string(APPEND rows "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(WRITE ${OUT} "// Made from ${FOLDER}.\n#include \"${DECLARES}\"\n\n"
                  "static_assert(std::tuple_size_v<decltype(${NAME})> == ${count});\n"
                  "const decltype(${NAME}) ${NAME}{{\n${rows}}};\n")
