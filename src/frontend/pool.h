#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace sluice::frontend {

// The exchanges of one kind and front end, or requests of one connection: made when there is none
// to reuse, kept until the end. Bounded by connections times pipeline depth, or streams. Outlives
// every call that a store still holds.
template <class Kind>
class Pool {
 public:
  [[nodiscard]] Kind& Take() {
    if (free_.empty()) {
      all_.push_back(Make());
      free_.reserve(all_.capacity());  // So that Return() never allocates.
      return *all_.back();
    }
    Kind& exchange = *free_.back();
    free_.pop_back();
    return exchange;
  }
  void Return(Kind& exchange) noexcept { free_.push_back(&exchange); }
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }
  // In use or not.
  [[nodiscard]] const std::vector<std::unique_ptr<Kind>>& all() const { return all_; }

 private:
  [[nodiscard]] std::unique_ptr<Kind> Make() {
    if constexpr (std::is_constructible_v<Kind, Pool&>) {
      return std::make_unique<Kind>(*this);
    } else {
      return std::make_unique<Kind>();
    }
  }

  std::vector<std::unique_ptr<Kind>> all_;
  std::vector<Kind*> free_;
};

}  // namespace sluice::frontend
