# cmake -DTEXT=<file> -DOUT=<file.cc> -DDECLARES=<header> -DNAME=<sluice::...::kName> -P EmbedText.cmake
#
# Writes a source that defines the string_view NAME, declared in the header, as the file's text.
file(READ ${TEXT} text)
string(FIND "${text}" ")embedded\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${TEXT} holds the end of a literal")
endif()
file(WRITE ${OUT} "// Made from ${TEXT}.\n#include \"${DECLARES}\"\n\n"
                  "const std::string_view ${NAME} = R\"embedded(${text})embedded\";\n")
