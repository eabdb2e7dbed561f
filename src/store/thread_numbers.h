#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice::store {

// Numbers 0 to `size` - 1, one for each thread that uses a table: its journal record, and
// its name in lock words. A thread keeps its number until it ends.
class ThreadNumbers {
 public:
  explicit ThreadNumbers(std::uint32_t size) : taken_(size, false) {}

  // -1 when all are taken.
  [[nodiscard]] int Take();
  void Give(int number);
  // The table is gone: threads may forget their numbers. The release pairs with the acquire in
  // closed(); the numbers themselves are under the mutex.
  void Close() { closed_.store(true, std::memory_order_release); }
  [[nodiscard]] bool closed() const { return closed_.load(std::memory_order_acquire); }

 private:
  std::mutex mutex_;
  std::vector<bool> taken_;
  std::atomic<bool> closed_{false};
};

// The calling thread's number in `book`; -1 when all are taken. Allocates at a thread's
// first call for a book, never later.
[[nodiscard]] int ThreadNumber(const std::shared_ptr<ThreadNumbers>& book);

}  // namespace sluice::store
