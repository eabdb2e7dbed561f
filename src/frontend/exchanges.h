#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace sluice::frontend {

// The exchanges of one kind and front end, or requests of one connection. One is created only if
// there is none to reuse, and all are kept until the end. Bounded by connections times pipeline
// depth, or streams. Outlives every call that a store still holds.
template <class Kind>
class Pool {
 public:
  // `args`: the constructor's arguments, if they are not the pool or nothing.
  template <class... Args>
  [[nodiscard]] Kind& Take(Args&... args) {
    if (free_.empty()) {
      all_.push_back(Make(args...));
      free_.reserve(all_.capacity());  // So Return() never allocates.
      return *all_.back();
    }
    Kind& exchange = *free_.back();
    free_.pop_back();
    return exchange;
  }
  void Return(Kind& exchange) noexcept { free_.push_back(&exchange); }
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }
  // All, in use or not.
  [[nodiscard]] const std::vector<std::unique_ptr<Kind>>& all() const { return all_; }

 private:
  template <class... Args>
  [[nodiscard]] std::unique_ptr<Kind> Make(Args&... args) {
    if constexpr (sizeof...(Args) != 0) {
      return std::make_unique<Kind>(args...);
    } else if constexpr (std::is_constructible_v<Kind, Pool&>) {
      return std::make_unique<Kind>(*this);
    } else {
      return std::make_unique<Kind>();
    }
  }

  std::vector<std::unique_ptr<Kind>> all_;
  std::vector<Kind*> free_;
};

// The unanswered exchanges of a protocol whose answers leave in the order of their requests, even
// if they come late or out of order. An `Exchange` has ready() and Abandon(). Allocates only to
// become longer than ever before.
template <class Exchange>
class Pipeline {
 public:
  // The expected number at a time.
  explicit Pipeline(std::size_t depth) : depth_(depth) {}

  void Push(Exchange& exchange) {
    if (empty() || first_ >= depth_) {
      exchanges_.erase(exchanges_.begin(),
                       exchanges_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
    exchanges_.push_back(&exchange);
  }
  // The next one to answer. Requires that there is one.
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
