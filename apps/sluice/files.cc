#include "files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/fault.h"

namespace sluice::app {

Result<std::string> ReadFile(const std::string& path) {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  const auto fail = [&](std::string why) {
    return FileFault(path, "cannot be read: " + std::move(why));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) {
    return fail(std::generic_category().message(errno));
  }
  std::string text;
  char chunk[1 << 16];
  for (;;) {
    const std::size_t got = std::fread(chunk, 1, sizeof chunk, file.get());
    text.append(chunk, got);
    if (text.size() > kMost) {
      return fail("more than 64 MiB");
    }
    if (got < sizeof chunk) {
      break;
    }
  }
  if (std::ferror(file.get()) != 0) {
    return fail(std::generic_category().message(errno));
  }
  return text;
}

}  // namespace sluice::app
