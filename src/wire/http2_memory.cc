#include "wire/http2_memory.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <nghttp2/nghttp2.h>

namespace sluice::wire {

// The header before each allocation, and the content of a free block.
struct alignas(std::max_align_t) Http2Memory::Block {
  std::size_t size;  // Without this header.
  Block* next;       // While it is free.
};

struct Http2Memory::Native {
  nghttp2_mem calls;
};

namespace {
constexpr std::size_t kSmallest = 32;
constexpr std::size_t kMostPiecesKept = 512;  // Of each size.

// 0 for 1 to 32 bytes, 1 for 33 to 64, and so on.
std::size_t ClassOf(std::size_t size) {
  return static_cast<std::size_t>(std::bit_width((std::max(size, kSmallest) - 1) / kSmallest));
}
}  // namespace

Http2Memory::Http2Memory() : native_(std::make_unique<Native>()) {
  native_->calls = {.mem_user_data = this,
                    .malloc = Allocate,
                    .free = Free,
                    .calloc = AllocateZeroed,
                    .realloc = Reallocate};
}

void* Http2Memory::native() {
  return &native_->calls;
}

Http2Memory::~Http2Memory() {
  for (Block* block : free_) {
    while (block != nullptr) {
      std::free(std::exchange(block, block->next));
    }
  }
}

void* Http2Memory::Allocate(std::size_t size, void* self) {
  auto& memory = *static_cast<Http2Memory*>(self);
  const std::size_t kind = ClassOf(size);
  if (kind < kClasses && memory.free_[kind] != nullptr) {
    Block* const block = memory.free_[kind];
    memory.free_[kind] = block->next;
    --memory.kept_[kind];
    return block + 1;
  }
  const std::size_t room = kind < kClasses ? kSmallest << kind : size;
  auto* const block = static_cast<Block*>(std::malloc(sizeof(Block) + room));
  if (block == nullptr) {
    return nullptr;
  }
  block->size = room;
  return block + 1;
}

void Http2Memory::Free(void* pointer, void* self) {
  if (pointer == nullptr) {
    return;
  }
  auto& memory = *static_cast<Http2Memory*>(self);
  Block* const block = static_cast<Block*>(pointer) - 1;
  const std::size_t kind = ClassOf(block->size);
  if (kind >= kClasses || memory.kept_[kind] >= kMostPiecesKept) {
    std::free(block);
    return;
  }
  block->next = memory.free_[kind];
  memory.free_[kind] = block;
  ++memory.kept_[kind];
}

void* Http2Memory::AllocateZeroed(std::size_t count, std::size_t size, void* self) {
  // nghttp2 allocates its own structures: a few, of some hundred bytes each.
  void* const memory = Allocate(count * size, self);
  if (memory != nullptr) {
    std::memset(memory, 0, count * size);
  }
  return memory;
}

void* Http2Memory::Reallocate(void* pointer, std::size_t size, void* self) {
  if (pointer == nullptr) {
    return Allocate(size, self);
  }
  const Block* const block = static_cast<Block*>(pointer) - 1;
  if (size <= block->size) {
    return pointer;
  }
  void* const larger = Allocate(size, self);
  if (larger != nullptr) {
    std::memcpy(larger, pointer, block->size);
    Free(pointer, self);
  }
  return larger;
}

}  // namespace sluice::wire
