#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace sluice::wire {

// The memory of all HTTP/2 sessions of one thread. For each request, nghttp2 allocates and frees a
// dozen small blocks. Freed blocks are kept by size, up to a bound, and reused. One thread.
class Http2Memory {
 public:
  Http2Memory();
  ~Http2Memory();
  Http2Memory(const Http2Memory&) = delete;
  Http2Memory& operator=(const Http2Memory&) = delete;

  // An nghttp2_mem*; nghttp2.h would have to be included to name it.
  [[nodiscard]] void* native();

 private:
  struct Block;
  struct Native;
  static constexpr std::size_t kClasses = 8;  // 32, 64, ... 4096 bytes.

  static void* Allocate(std::size_t size, void* self);
  static void Free(void* pointer, void* self);
  static void* AllocateZeroed(std::size_t count, std::size_t size, void* self);
  static void* Reallocate(void* pointer, std::size_t size, void* self);

  std::array<Block*, kClasses> free_{};
  std::array<std::size_t, kClasses> kept_{};
  std::unique_ptr<Native> native_;
};

}  // namespace sluice::wire
