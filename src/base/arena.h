#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace sluice::base {

// Copies of the bytes that a request's views point into. Used for one request after another, it
// allocates only until it has room for the largest. One thread.
class Arena {
 public:
  // A copy of `bytes` that stays where it is until Clear().
  [[nodiscard]] std::string_view Keep(std::string_view bytes) {
    if (bytes.empty()) {
      return {};
    }
    if (bytes.size() > left_) [[unlikely]] {
      AddBlock(bytes.size());
    }
    char* const copy = next_;
    std::memcpy(copy, bytes.data(), bytes.size());
    next_ += bytes.size();
    left_ -= bytes.size();
    return {copy, bytes.size()};
  }

  // Ends all views. Keeps the largest block for what comes next.
  void Clear() {
    if (blocks_.size() > 1) [[unlikely]] {
      blocks_.erase(blocks_.begin(), blocks_.end() - 1);
    }
    if (!blocks_.empty()) {
      Use(blocks_.back());
    }
  }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  static constexpr std::size_t kLeastBlock = 512;

  // Each block is at least twice as large as the one before, so the last is the largest.
  void AddBlock(std::size_t needed) {
    const std::size_t twice = blocks_.empty() ? kLeastBlock : 2 * blocks_.back().size;
    const std::size_t size = std::max(needed, twice);
    // Not make_unique: the bytes need no value.
    blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
    Use(blocks_.back());
  }
  void Use(Block& block) {
    next_ = block.bytes.get();
    left_ = block.size;
  }

  std::vector<Block> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace sluice::base
