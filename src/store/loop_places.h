#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

#include "base/assert.h"

namespace sluice::store {

// The objects that a store has for each loop (a route to a server, a book). Each thread finds its
// own without a lock.
//
// Each is used by the thread that makes and destroys it, or before its loop runs and after it. So a
// thread that finds its own finds it alive.
template <class Kept>
class LoopPlaces {
 public:
  static constexpr std::size_t kMost = 256;

  LoopPlaces() = default;
  ~LoopPlaces() {
    for (const std::atomic<Kept*>& place : kept_) {
      SLUICE_ASSERT(place.load(std::memory_order_relaxed) == nullptr);
    }
  }
  LoopPlaces(const LoopPlaces&) = delete;
  LoopPlaces& operator=(const LoopPlaces&) = delete;

  // Returns its place, by which it must be removed before it is destroyed.
  [[nodiscard]] std::size_t Add(Kept& kept) {
    const std::lock_guard lock(changing_);
    const auto free = std::ranges::find_if(kept_, [](const std::atomic<Kept*>& place) {
      return place.load(std::memory_order_relaxed) == nullptr;
    });
    SLUICE_ASSERT(free != kept_.end());
    const auto place = static_cast<std::size_t>(free - kept_.begin());
    // Both releases pair with the acquires in Find: a thread that sees the place sees the object in
    // it, and one that sees the new number of places sees the place.
    free->store(&kept, std::memory_order_release);
    used_.store(std::max(used_.load(std::memory_order_relaxed), place + 1),
                std::memory_order_release);
    return place;
  }

  void Remove(std::size_t place) {
    const std::lock_guard lock(changing_);
    // Pairs with the acquire in Find. Its owner no longer looks for it (see above); other threads
    // skip it, whether they see the old value or the new one.
    kept_[place].store(nullptr, std::memory_order_release);
  }

  // The calling thread's object: the one for which `is_own(kept)` is true, or the only one that was
  // ever added. nullptr if there is none.
  template <class IsOwn>
  [[nodiscard]] Kept* Find(IsOwn is_own) const {
    const std::size_t used = used_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < used; ++i) {
      Kept* const kept = kept_[i].load(std::memory_order_acquire);
      if (kept != nullptr && (used == 1 || is_own(*kept))) {
        return kept;
      }
    }
    return nullptr;
  }

  // Calls `work(kept)` for each. None is added or removed meanwhile.
  template <class Work>
  void ForEach(Work work) {
    const std::lock_guard lock(changing_);
    for (const std::atomic<Kept*>& place : kept_) {
      if (Kept* const kept = place.load(std::memory_order_relaxed); kept != nullptr) {
        work(*kept);
      }
    }
  }

 private:
  std::mutex changing_;
  std::atomic<std::size_t> used_{0};  // How many places have ever been used.
  std::array<std::atomic<Kept*>, kMost> kept_{};
};

}  // namespace sluice::store
