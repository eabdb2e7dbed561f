#pragma once

#include "lease/borrower.h"

namespace sluice::lease {

// Asks the shared store for units of one key. Its views are of the entry, which stays while pinned.
class Borrower::Borrow final : public store::CheckCall {
 public:
  explicit Borrow(Borrower& borrower) : borrower_(&borrower) {}

  void Begin(LeaseEntry& of, Units units, NodeTime when) {
    entry = &of;
    epoch = of.epoch;
    sent = when;
    error = store::StoreError::kNone;
    own_check_ = {.key = of.key.view(),
                  .quota = of.quota,
                  .cost = {.units = units},
                  .want_receipt = true};  // With it, the unused units can be given back, once.
    own_answer_ = {};
    checks = {&own_check_, 1};
    answers = {&own_answer_, 1};
  }
  [[nodiscard]] Units units() const { return own_check_.cost.units; }
  [[nodiscard]] const store::CheckAnswer& answer() const { return own_answer_; }
  void OnAnswered() noexcept override { borrower_->OnBorrowed(*this); }

  LeaseEntry* entry = nullptr;
  std::uint32_t epoch = 0;
  NodeTime sent{};

 private:
  Borrower* borrower_;
  store::Check own_check_{};
  store::CheckAnswer own_answer_{};
};

// Settles a grant at its actual cost. The rest goes back if it still counts by the store's own
// clock, and only once, however often this is sent.
class Borrower::GiveBack final : public store::SettleCall {
 public:
  explicit GiveBack(Borrower& borrower) : borrower_(&borrower) {}

  void Begin(LeaseEntry& of, const Grant& grant) {
    entry = &of;
    epoch = of.epoch;
    error = store::StoreError::kNone;
    key = of.key.view();
    quota = of.quota;
    receipt = grant.receipt;
    charged = grant.charged;
    units = grant.charged - grant.left;
    settled = 0;
  }
  [[nodiscard]] Units back() const { return charged - units; }
  void OnAnswered() noexcept override { borrower_->OnGivenBack(*this); }

  LeaseEntry* entry = nullptr;
  std::uint32_t epoch = 0;

 private:
  Borrower* borrower_;
};

}  // namespace sluice::lease
