#include "store/thread_numbers.h"

#include <algorithm>
#include <cstddef>

namespace sluice::store {

namespace {

// What one thread holds, given back when it ends. It shares ownership of the books, so a
// book's address names it for as long as it stands here.
struct Leases {
  struct Lease {
    std::shared_ptr<ThreadNumbers> book;
    int number = -1;
  };
  std::vector<Lease> held;

  Leases() = default;
  Leases(const Leases&) = delete;
  Leases& operator=(const Leases&) = delete;
  ~Leases() {
    for (const Lease& lease : held) {
      lease.book->Give(lease.number);
    }
  }
};

struct Last {
  const ThreadNumbers* book = nullptr;
  int number = -1;
};

thread_local Leases leases;
thread_local Last last;  // Plain, so that the hot path tests no guard.

int Slow(const std::shared_ptr<ThreadNumbers>& book) {
  const auto found = std::ranges::find(leases.held, book, &Leases::Lease::book);
  int number = -1;
  if (found != leases.held.end()) {
    number = found->number;
  } else {
    last = {};  // May name a book that is dropped here.
    std::erase_if(leases.held, [](const Leases::Lease& lease) { return lease.book->closed(); });
    number = book->Take();
    if (number < 0) {
      return -1;
    }
    leases.held.push_back({book, number});
  }
  last = {book.get(), number};
  return number;
}

}  // namespace

int ThreadNumbers::Take() {
  const std::scoped_lock lock(mutex_);
  const auto free = std::ranges::find(taken_, false);
  if (free == taken_.end()) {
    return -1;
  }
  *free = true;
  return static_cast<int>(free - taken_.begin());
}

void ThreadNumbers::Give(int number) {
  const std::scoped_lock lock(mutex_);
  taken_[static_cast<std::size_t>(number)] = false;
}

int ThreadNumber(const std::shared_ptr<ThreadNumbers>& book) {
  return last.book == book.get() ? last.number : Slow(book);
}

}  // namespace sluice::store
