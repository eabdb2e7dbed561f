#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sluice::wire {

// Received bytes that have not been consumed: one contiguous buffer, filled at the end and consumed
// from the front. Allocates only to grow; the rest moves to the front when room is needed. One
// thread.
class ReadBuffer {
 public:
  // All spare room, at least `size` bytes. May move the data, so it invalidates views of it.
  [[nodiscard]] std::span<char> Prepare(std::size_t size);

  // The first `size` bytes of the room from Prepare() have been filled.
  void Commit(std::size_t size);

  // Prepare, copy, Commit: for tests and clients.
  void Append(std::string_view bytes);

  [[nodiscard]] std::string_view Data() const { return {memory_.get() + begin_, end_ - begin_}; }

  // The first `size` bytes of Data() are no longer needed. The rest does not move.
  void Consume(std::size_t size);

  // Frees the memory if the buffer is empty and larger than `keep` bytes.
  void ShrinkIfIdle(std::size_t keep);

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sluice::wire
