#include "core/algorithm_state.h"

#include <algorithm>
#include <bit>

#include "core/steps.h"

namespace sluice::core {

namespace {

// The limit when an algorithm only counts.
constexpr Units kCounting = kMaxUnits;

// Reads and writes an algorithm's state in memory for the largest one.
template <class T>
T Load(const std::array<std::uint64_t, 4>& words) {
  std::array<std::uint64_t, sizeof(T) / 8> part;  // NOLINT: filled at once.
  std::copy_n(words.begin(), part.size(), part.begin());
  return std::bit_cast<T>(part);
}
template <class T>
void Store(std::array<std::uint64_t, 4>& words, const T& state) {
  const auto part = std::bit_cast<std::array<std::uint64_t, sizeof(T) / 8>>(state);
  std::copy_n(part.begin(), part.size(), words.begin());
}

}  // namespace

void AlgorithmState::Entries::Change(std::uint32_t drop, Entry append) {
  gone += drop;
  if (gone * 2 > list.size()) {  // So each entry is moved at most once.
    list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(gone));
    gone = 0;
  }
  if (gone < list.size() && list.back().at == append.at) {
    list.back().units += append.units;
  } else {
    list.push_back(append);
  }
}

Decision AlgorithmState::Check(const Quota& quota, WallInstant at, Cost cost) {
  const TableNow now{.monotonic = TableInstant(at.time_since_epoch()), .wall_clock = at};
  return VisitSteps(quota.algorithm, [&]<class Steps>() -> Decision {
    if constexpr (Steps::kTraits.has_entries()) {
      const auto outcome =
          Steps::Check(quota, Load<typename Steps::State>(words_), entries_, now, cost);
      if (outcome.decision.allowed && outcome.append.units > 0) {
        entries_.Change(outcome.drop, outcome.append);
        Store(words_, outcome.on_allow);
      }
      return outcome.decision;
    } else if constexpr (Steps::kTraits.has_holds()) {
      return {};
    } else {
      const auto outcome = Steps::Check(quota, Load<typename Steps::State>(words_), now, cost);
      Store(words_, outcome.decision.allowed ? outcome.on_allow : outcome.on_deny);
      return outcome.decision;
    }
  });
}

Decision AlgorithmState::Peek(const Quota& quota, WallInstant at, Cost cost) const {
  const TableNow now{.monotonic = TableInstant(at.time_since_epoch()), .wall_clock = at};
  return VisitSteps(quota.algorithm, [&]<class Steps>() -> Decision {
    if constexpr (Steps::kTraits.has_entries()) {
      return Steps::Peek(quota, Load<typename Steps::State>(words_), entries_, now, cost).decision;
    } else if constexpr (Steps::kTraits.has_holds()) {
      return {};
    } else {
      return Steps::Peek(quota, Load<typename Steps::State>(words_), now, cost).decision;
    }
  });
}

Units AlgorithmState::Count(const Quota& quota, WallInstant at, Cost cost) {
  Quota counting = quota;
  counting.limit = kCounting;
  return kCounting - Check(counting, at, cost).remaining;
}

}  // namespace sluice::core
