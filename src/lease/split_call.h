#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lease/lease_entry.h"
#include "store/key_store.h"

namespace sluice::lease {

class Borrower;

// A sender's call in flight: the checks that are decided here, and the rest, which this call sends
// to the shared store. Reused from call to call, so that once warm nothing is allocated.
class SplitCall final : public store::CheckCall {
 public:
  explicit SplitCall(Borrower& borrower) : borrower_(&borrower) {}

  void Begin(store::CheckCall& of, NodeTime when);
  // The sender's check number `check` is decided here and not sent.
  void Decided(std::size_t check) { decided_ |= std::uint64_t{1} << check; }
  void Undecided(std::size_t check) { decided_ &= ~(std::uint64_t{1} << check); }
  [[nodiscard]] bool is_decided(std::size_t check) const { return (decided_ >> check & 1U) != 0; }
  // Prepares to send all checks that are not decided. False if there are none.
  [[nodiscard]] bool Seal();
  // Copies the answers, in the sender's order, and the answer of the whole call.
  void HandOver(WallInstant here) const;

  void OnAnswered() noexcept override;

  // Whether an enforced check that was sent is denied, and with it the request.
  [[nodiscard]] bool IsDenied() const;
  // The answer to the sender's check number `check`, which was sent.
  [[nodiscard]] const store::CheckAnswer& AnswerTo(std::size_t check) const;

  // The sender's call, and its checks by how they are decided.
  struct Reserved {
    std::size_t check = 0;
    LeaseEntry* entry = nullptr;
    std::uint32_t grant = 0;
  };
  struct Known {  // Sent, for a key of the book, which learns from the answer.
    std::size_t check = 0;
    LeaseEntry* entry = nullptr;
  };
  store::CheckCall* call = nullptr;
  NodeTime sent{};
  std::vector<Reserved> reserved;
  std::vector<Known> known;
  std::vector<std::size_t> local;  // Decided by the node's own table.
  bool is_denied_here = false;     // The rest is only a peek then.

  // Whether one denial denies the whole request.
  [[nodiscard]] bool is_all_or_nothing() const {
    return call->atomicity == store::Atomicity::kAll && !call->peek;
  }

 private:
  Borrower* borrower_;
  std::uint64_t decided_ = 0;  // A bit for each check.
  static_assert(store::kMaxChecksPerCall <= 64);
  bool is_whole_ = false;           // All checks are sent, and answered in place.
  std::vector<std::size_t> asked_;  // Otherwise the sender's checks in the order of these two.
  std::vector<store::Check> own_checks_;
  std::vector<store::CheckAnswer> own_answers_;
};

}  // namespace sluice::lease
