#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice::frontend {

// The exchanges of one kind and door: made when there is none to reuse, kept until the end.
// Bounded by connections times pipeline depth, or streams. Outlives every call that a store still
// holds.
template <class Kind>
class Pool {
 public:
  [[nodiscard]] Kind& Take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Kind>(*this));
      free_.reserve(all_.capacity());  // So that Return() never allocates.
      return *all_.back();
    }
    Kind& exchange = *free_.back();
    free_.pop_back();
    return exchange;
  }
  void Return(Kind& exchange) noexcept { free_.push_back(&exchange); }
  [[nodiscard]] std::size_t in_use() const { return all_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<Kind>> all_;
  std::vector<Kind*> free_;
};

}  // namespace sluice::frontend
