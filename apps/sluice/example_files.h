#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace sluice::app {

struct EmbeddedFile {
  std::string_view name;  // Below examples/: "proxies/nginx.conf".
  std::string_view text;
};

// Files of examples/, which the build puts into the program: CMakeLists.txt lists them, and another
// number of them there does not compile.
inline constexpr std::size_t kExampleFileCount = 10;
extern const std::array<EmbeddedFile, kExampleFileCount> kExampleFiles;

}  // namespace sluice::app
