#include "base/random.h"

#include <cerrno>
#include <cstddef>

#include <sys/random.h>

#include "base/assert.h"

namespace sluice::base {

Random& ThreadRandom() {
  thread_local Random random = [] {
    std::uint64_t seed = 0;
    FillWithSecretBytes({reinterpret_cast<std::uint8_t*>(&seed), sizeof(seed)});
    return Random(seed);
  }();
  return random;
}

std::uint64_t UniqueNumber() {
  const std::uint64_t number = ThreadRandom().Next();
  return number == 0 ? 1 : number;
}

void FillWithSecretBytes(std::span<std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t filled = getrandom(bytes.data(), bytes.size(), 0);
    SLUICE_ASSERT(filled > 0 || errno == EINTR);  // Every kernel since 3.17 has it.
    bytes = bytes.subspan(filled > 0 ? static_cast<std::size_t>(filled) : 0);
  }
}

}  // namespace sluice::base
