#include "support/counted_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
thread_local std::int64_t allocations = 0;
}  // namespace

namespace sluice::support {

std::int64_t AllocationsOfThisThread() {
  return allocations;
}

}  // namespace sluice::support

// In a file of their own, which nothing inlines: g++ would see free() given what new returned.
void* operator new(std::size_t size) {
  ++allocations;
  if (void* const memory = std::malloc(size == 0 ? 1 : size)) {
    return memory;
  }
  std::abort();
}
// The library's own, for sorting with a buffer, would not meet the delete below.
void* operator new(std::size_t size, const std::nothrow_t& /*none*/) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*none*/) noexcept {
  std::free(memory);
}
