#pragma once

#include <cstddef>
#include <vector>

namespace sluice::frontend {

// The exchanges of a protocol whose answers leave in the order of their requests, however late or
// disordered they come: those that lack an answer on its way. An `Exchange` has ready() and
// Abandon(). Allocates nothing once it was as long as it gets.
template <class Exchange>
class Pipeline {
 public:
  // So many are expected at once.
  explicit Pipeline(std::size_t depth) : depth_(depth) {}

  void Push(Exchange& exchange) {
    if (empty() || first_ >= depth_) {
      exchanges_.erase(exchanges_.begin(),
                       exchanges_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    exchanges_.push_back(&exchange);
  }
  // The one to be answered next. Requires that there is one.
  [[nodiscard]] Exchange& front() const { return *exchanges_[first_]; }
  void Pop() { ++first_; }

  [[nodiscard]] bool ready() const { return !empty() && front().ready(); }
  [[nodiscard]] bool empty() const { return first_ == exchanges_.size(); }
  [[nodiscard]] bool full() const { return size() >= depth_; }
  [[nodiscard]] std::size_t size() const { return exchanges_.size() - first_; }

  void AbandonAll() {
    for (; !empty(); Pop()) {
      front().Abandon();
    }
  }

 private:
  const std::size_t depth_;
  std::vector<Exchange*> exchanges_;
  std::size_t first_ = 0;
};

}  // namespace sluice::frontend
