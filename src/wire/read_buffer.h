#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace sluice::wire {

// The bytes that came in and are not used yet: one flat piece, filled at the end and used
// from the front. Allocates only to grow; what is left moves to the front when room is
// needed. One thread.
class ReadBuffer {
 public:
  // Room for at least `size` more bytes, all of the spare room in fact. Moves the data:
  // views of it are void afterwards.
  [[nodiscard]] std::span<char> Prepare(std::size_t size);

  // The first `size` bytes of what Prepare() gave have been filled.
  void Commit(std::size_t size);

  // Prepare, copy, Commit: for tests and clients.
  void Append(std::string_view bytes);

  [[nodiscard]] std::string_view Data() const { return {memory_.get() + begin_, end_ - begin_}; }

  // The first `size` bytes of Data() are done with. The rest does not move.
  void Consume(std::size_t size);

  // Gives memory back where the buffer is empty and larger than `keep` bytes.
  void ShrinkIfIdle(std::size_t keep);

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace sluice::wire
