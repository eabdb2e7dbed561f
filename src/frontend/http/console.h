#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::frontend::http {

struct ConsoleFile {
  std::string_view name;  // Below console/: "app.js".
  std::string_view text;
};

// The files of console/, and docs/lab/lab.js, which the build puts into the program: CMakeLists.txt
// lists them, and another number of them there does not compile.
inline constexpr std::size_t kConsoleFileCount = 17;
extern const std::array<ConsoleFile, kConsoleFileCount> kConsoleFiles;

}  // namespace sluice::frontend::http
