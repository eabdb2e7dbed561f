#include "wire/read_buffer.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"

namespace sluice::wire {

std::span<char> ReadBuffer::Prepare(std::size_t size) {
  const std::size_t used = end_ - begin_;
  if (capacity_ - end_ < size) {
    if (capacity_ - used >= size && begin_ >= used) {
      // At least half of the memory is consumed, so moving the rest is cheap.
      std::memcpy(memory_.get(), memory_.get() + begin_, used);
    } else {
      const std::size_t capacity = std::max(used + size, capacity_ * 2);
      auto memory = std::make_unique_for_overwrite<char[]>(capacity);
      if (used != 0) {
        std::memcpy(memory.get(), memory_.get() + begin_, used);
      }
      memory_ = std::move(memory);
      capacity_ = capacity;
    }
    begin_ = 0;
    end_ = used;
  }
  return {memory_.get() + end_, capacity_ - end_};
}

void ReadBuffer::Commit(std::size_t size) {
  SLUICE_ASSERT(size <= capacity_ - end_);
  end_ += size;
}

void ReadBuffer::Append(std::string_view bytes) {
  if (!bytes.empty()) {
    std::memcpy(Prepare(bytes.size()).data(), bytes.data(), bytes.size());
    Commit(bytes.size());
  }
}

void ReadBuffer::Consume(std::size_t size) {
  SLUICE_ASSERT(size <= end_ - begin_);
  begin_ += size;
  if (begin_ == end_) {
    begin_ = 0;
    end_ = 0;
  }
}

void ReadBuffer::ShrinkIfIdle(std::size_t keep) {
  if (begin_ == end_ && capacity_ > keep) {
    memory_.reset();
    capacity_ = 0;
  }
}

}  // namespace sluice::wire
