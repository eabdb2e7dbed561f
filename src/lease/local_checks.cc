#include <algorithm>

#include "lease/borrower.h"

// The checks of a request that the node's own table decides, and how they are undone if the shared
// store denies the rest.
namespace sluice::lease {

namespace {

// A call that the node's own table answers on the spot.
template <class Call>
class AnsweredHere final : public Call {
 public:
  void OnAnswered() noexcept override {}
};

}  // namespace

void Borrower::DecideLocally(SplitCall& split, NodeTime now) {
  store::CheckCall& call = *split.call;
  const bool may_be_undone = split.is_all_or_nothing();
  local_checks_.clear();
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    if (call.checks[i].sync == core::Sync::kLocal) {
      split.local.push_back(i);
      split.Decided(i);
      store::Check& check = local_checks_.emplace_back(call.checks[i]);
      check.want_receipt |= may_be_undone && !core::HasHolds(check.quota.algorithm);
    }
  }
  local_answers_.assign(local_checks_.size(), {});
  AnsweredHere<store::CheckCall> here;
  here.checks = local_checks_;
  here.answers = local_answers_;
  here.atomicity = call.atomicity;
  here.peek = call.peek;
  store::CheckCall* const one = &here;
  ground_.local.CheckMany({&one, 1});
  for (std::size_t n = 0; n < split.local.size(); ++n) {
    store::CheckAnswer& answer = call.answers[split.local[n]];
    answer = local_answers_[n];
    if (here.error != store::StoreError::kNone) {
      answer.error = here.error;
    }
    split.is_denied_here |= may_be_undone && answer.error == store::StoreError::kNone &&
                            !answer.decision.allowed && !local_checks_[n].shadow;
  }
  if (split.is_denied_here) {
    // All others are peeks, as they are in the shared store.
    ReturnReserved(split, now);
    for (const SplitCall::Reserved& reserved : split.reserved) {
      split.Undecided(reserved.check);
      --reserved.entry->pinned;
    }
    split.reserved.clear();
  }
}

// Gives back what the node's own table charged, and updates the numbers.
void Borrower::UndoLocally(SplitCall& split) {
  if (split.local.empty()) {
    return;
  }
  store::CheckCall& call = *split.call;
  local_checks_.clear();
  for (const std::size_t i : split.local) {
    const store::Check& check = call.checks[i];
    const store::CheckAnswer& answer = call.answers[i];
    if (answer.hold != 0) {
      AnsweredHere<store::HoldCall> release;
      release.key = check.key;
      release.quota = check.quota;
      release.hold = answer.hold;
      ground_.local.Release(release);
    } else if (answer.charged) {
      AnsweredHere<store::SettleCall> settle;
      settle.key = check.key;
      settle.quota = check.quota;
      settle.receipt = answer.receipt;
      settle.charged = check.cost.units;
      ground_.local.Settle(settle);
    }
    local_checks_.push_back(check);
  }
  local_answers_.assign(local_checks_.size(), {});
  AnsweredHere<store::CheckCall> peeked;
  peeked.checks = local_checks_;
  peeked.answers = local_answers_;
  peeked.peek = true;
  store::CheckCall* const one = &peeked;
  ground_.local.CheckMany({&one, 1});
  for (std::size_t n = 0; n < split.local.size(); ++n) {
    call.answers[split.local[n]] = local_answers_[n];
  }
}

}  // namespace sluice::lease
