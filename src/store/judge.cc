#include "store/judge.h"

#include <bit>

#include "core/attempt_window.h"
#include "core/steps.h"

namespace sluice::store {

namespace {

using core::Quota;

// A State of 32 bytes fills the slot's; one of 24 leaves room for the chain's ends.
template <class State>
State From(const RawState& raw) {
  if constexpr (sizeof(State) == sizeof(RawState)) {
    return std::bit_cast<State>(raw);
  } else {
    return std::bit_cast<State>(std::bit_cast<ListState>(raw).core);
  }
}

template <class State>
RawState Into(const State& state, const RawState& raw) {
  if constexpr (sizeof(State) == sizeof(RawState)) {
    return std::bit_cast<RawState>(state);
  } else {
    ListState list = std::bit_cast<ListState>(raw);
    list.core = std::bit_cast<decltype(list.core)>(state);
    return std::bit_cast<RawState>(list);
  }
}

}  // namespace

Step JudgeCheck(const Quota& quota, const RawState& state, const EntryView& entries,
                const TableNow& now, Cost cost, Units kept) {
  return core::VisitSteps(quota.algorithm, [&]<class Steps>() -> Step {
    const auto held = From<typename Steps::State>(state);
    if constexpr (Steps::kTraits.has_entries()) {
      const auto outcome = Steps::Check(quota, held, entries, now, cost);
      return {.decision = outcome.decision,
              .on_allow = Into(outcome.on_allow, state),
              .change = {.drop = outcome.drop, .append = outcome.append}};
    } else if constexpr (Steps::kTraits.has_holds()) {
      const auto outcome = Steps::Check(quota, held, now, cost, kept);
      return {
          .decision = outcome.decision, .on_allow = Into(outcome.on_allow, state), .change = {}};
    } else {
      const auto outcome = Steps::Check(quota, held, now, cost);
      return {
          .decision = outcome.decision, .on_allow = Into(outcome.on_allow, state), .change = {}};
    }
  });
}

Decision JudgePeek(const Quota& quota, const RawState& state, const EntryView& entries,
                   const TableNow& now, Cost cost, Units kept) {
  return core::VisitSteps(quota.algorithm, [&]<class Steps>() -> Decision {
    const auto held = From<typename Steps::State>(state);
    if constexpr (Steps::kTraits.has_entries()) {
      return Steps::Peek(quota, held, entries, now, cost).decision;
    } else if constexpr (Steps::kTraits.has_holds()) {
      return Steps::Peek(quota, held, now, cost, kept).decision;
    } else {
      return Steps::Peek(quota, held, now, cost).decision;
    }
  });
}

RefundStep JudgeRefund(const Quota& quota, const RawState& state, const EntryView& entries,
                       const TableNow& now, Units units) {
  return core::VisitSteps(quota.algorithm, [&]<class Steps>() -> RefundStep {
    const auto held = From<typename Steps::State>(state);
    if constexpr (Steps::kTraits.has_entries()) {
      const auto refund = Steps::Refund(quota, held, entries, now, units);
      return {.state = Into(refund.state, state), .drop = refund.drop, .take = refund.take};
    } else if constexpr (Steps::kTraits.has_holds()) {
      return {.state = state};
    } else {
      return {.state = Into(Steps::Refund(quota, held, now, units), state)};
    }
  });
}

TableInstant ExpiryOf(const Quota& quota, const RawState& state, const EntryView& entries) {
  return core::VisitSteps(quota.algorithm, [&]<class Steps>() -> TableInstant {
    const auto held = From<typename Steps::State>(state);
    if constexpr (Steps::kTraits.has_entries()) {
      return Steps::Expiry(quota, held, entries);
    } else {
      return Steps::Expiry(quota, held);
    }
  });
}

bool Counts(const Quota& quota, const RawState& state, const BlockPool& blocks, TableInstant now) {
  const bool entries = core::Is<&core::AlgorithmTraits::has_entries>(quota.algorithm);
  const EntryView view(blocks, entries ? std::bit_cast<ListState>(state) : ListState{}, {});
  return ExpiryOf(quota, state, view) > now;
}

}  // namespace sluice::store
