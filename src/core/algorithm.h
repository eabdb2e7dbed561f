#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string_view>

#include "sluice/time.h"

// The one description of each algorithm: the table kAlgorithms. What differs between algorithms and
// is no arithmetic is a field of it. Rules, keys, stores, leases, headers, dumps, replays and tests
// ask the table. The arithmetic is in a file of its own, and core/steps.h knows which.
namespace sluice::core {

// The numbers are part of every key's fingerprint, and tables and snapshots store them. So a new
// algorithm goes to the end, and no number ever changes.
enum class Algorithm : std::uint8_t {
  kFixedWindow,
  kSlidingWindowLog,
  kSlidingWindowCounter,
  kSlidingWindow,
  kTokenBucket,
  kGcra,
  kLeakyBucket,
  kConcurrency,
  kThrottle,       // A gcra whose numbers come with each check: core/throttle.h.
  kAttemptWindow,  // A fixed window that counts denials too: core/attempt_window.h.
};

// How the units of a quota come back.
enum class Refill : std::uint8_t {
  kAtRate,       // Continuously, `rate` of them per window, up to the burst: a bucket.
  kAtWindowEnd,  // All together, when an aligned window or a calendar period ends.
  kSliding,      // Each of them a window's length after it was charged.
  kOnRelease,    // When their holder releases them, or after a window's length.
};

// What a key keeps besides a state of fixed size.
enum class Items : std::uint8_t { kNone, kEntries, kHolds };

// The numbers of a quota.
enum class QuotaField : std::uint8_t {
  kLimit,
  kRate,
  kBurst,  // Quota::limit of a bucket.
  kWindow,
  kHoldTtl,  // Quota::window of holds.
  kCalendar,
  kSegments,
  kStrict,
  kShape,
  kReserves,
};

class QuotaFields {
 public:
  constexpr QuotaFields(std::initializer_list<QuotaField> fields) {
    for (const QuotaField field : fields) {
      bits_ |= 1U << static_cast<unsigned>(field);
    }
  }
  [[nodiscard]] constexpr bool Has(QuotaField field) const {
    return (bits_ >> static_cast<unsigned>(field) & 1U) != 0;
  }
  bool operator==(const QuotaFields&) const = default;

 private:
  std::uint32_t bits_ = 0;
};

struct AlgorithmTraits {
  Algorithm algorithm;
  std::string_view name;  // In rules, answers, keys of Redis and dumps.
  // src/core/<steps>.h has the arithmetic. If a rule may name the algorithm,
  // src/redis/lua/algorithms/<steps>.lua mirrors it. Several algorithms may share their steps.
  std::string_view steps;
  Refill refill;
  Items items = Items::kNone;
  QuotaFields fields;     // Those of a quota that it reads.
  QuotaFields shape;      // Those that must stay the same for a key's state to mean the same.
  bool in_rules = true;   // False: it belongs to one front end, and to no shared store.
  bool is_exact = false;  // Every unit counts for a window's length, to the nanosecond.
  bool charges_denials = false;  // Unless the check is one of several that are all or nothing.
  bool needs_burst = false;      // A rule must state the burst, which else is the rate.
  Duration window_unit = std::chrono::milliseconds(1);  // A window is a whole number of it.
  std::string_view why_not_lent = {};  // Continues "sync: lease "; empty: a node can borrow units.

  [[nodiscard]] constexpr bool is_bucket() const { return refill == Refill::kAtRate; }
  [[nodiscard]] constexpr bool is_aligned() const { return refill == Refill::kAtWindowEnd; }
  [[nodiscard]] constexpr bool has_items() const { return items != Items::kNone; }
  [[nodiscard]] constexpr bool has_entries() const { return items == Items::kEntries; }
  [[nodiscard]] constexpr bool has_holds() const { return items == Items::kHolds; }
  [[nodiscard]] constexpr bool can_be_lent() const { return why_not_lent.empty(); }
  [[nodiscard]] constexpr bool has_window_in_shape() const {
    return shape.Has(QuotaField::kWindow);
  }
  [[nodiscard]] constexpr bool has_segments() const { return fields.Has(QuotaField::kSegments); }
  // Of those that rules name, what a check was charged can be given back by its receipt.
  [[nodiscard]] constexpr bool has_receipts() const { return in_rules && !has_holds(); }
};

// In the order of the enum.
inline constexpr auto kAlgorithms = [] {
  using enum QuotaField;
  return std::to_array<AlgorithmTraits>(
      {{.algorithm = Algorithm::kFixedWindow,
        .name = "fixed_window",
        .steps = "fixed_window",
        .refill = Refill::kAtWindowEnd,
        .fields = {kLimit, kWindow, kCalendar},
        .shape = {kWindow, kCalendar}},
       {.algorithm = Algorithm::kSlidingWindowLog,
        .name = "sliding_window_log",
        .steps = "sliding_window_log",
        .refill = Refill::kSliding,
        .items = Items::kEntries,
        .fields = {kLimit, kWindow},
        .shape = {kWindow},
        .is_exact = true,
        .why_not_lent = "cannot be combined with sliding_window_log, which promises to be exact at "
                        "every instant: write sync: exact, or algorithm: sliding_window"},
       {.algorithm = Algorithm::kSlidingWindowCounter,
        .name = "sliding_window_counter",
        .steps = "sliding_window_counter",
        .refill = Refill::kSliding,
        .fields = {kLimit, kWindow},
        .shape = {kWindow}},
       {.algorithm = Algorithm::kSlidingWindow,
        .name = "sliding_window",
        .steps = "sliding_window",
        .refill = Refill::kSliding,
        .items = Items::kEntries,
        .fields = {kLimit, kWindow, kSegments, kStrict},
        .shape = {kWindow, kSegments}},
       {.algorithm = Algorithm::kTokenBucket,
        .name = "token_bucket",
        .steps = "bucket",
        .refill = Refill::kAtRate,
        .fields = {kRate, kBurst, kWindow},
        .shape = {kWindow}},
       {.algorithm = Algorithm::kGcra,
        .name = "gcra",
        .steps = "bucket",
        .refill = Refill::kAtRate,
        .fields = {kRate, kBurst, kWindow},
        .shape = {kWindow}},
       {.algorithm = Algorithm::kLeakyBucket,
        .name = "leaky_bucket",
        .steps = "bucket",
        .refill = Refill::kAtRate,
        .fields = {kRate, kBurst, kWindow, kShape},
        .shape = {kWindow},
        .needs_burst = true},
       {.algorithm = Algorithm::kConcurrency,
        .name = "concurrency",
        .steps = "concurrency",
        .refill = Refill::kOnRelease,
        .items = Items::kHolds,
        .fields = {kLimit, kHoldTtl, kReserves},
        .shape = {},
        .why_not_lent = "cannot be combined with concurrency, because a hold cannot be borrowed: "
                        "write sync: exact"},
       // Its state says under which window it was written: so the window is not in the shape.
       {.algorithm = Algorithm::kThrottle,
        .name = "throttle",
        .steps = "throttle",
        .refill = Refill::kAtRate,
        .fields = {kRate, kBurst, kWindow},
        .shape = {},
        .in_rules = false,
        .window_unit = std::chrono::seconds(1),
        .why_not_lent = "needs a rule: callers of CL.THROTTLE state the quota"},
       {.algorithm = Algorithm::kAttemptWindow,
        .name = "tally",
        .steps = "attempt_window",
        .refill = Refill::kAtWindowEnd,
        .fields = {kLimit, kWindow},
        .shape = {kWindow},
        .in_rules = false,
        .charges_denials = true,
        .window_unit = std::chrono::seconds(1),
        .why_not_lent = "needs one of Sluice's algorithms, because envoyproxy/ratelimit's counts "
                        "denials too: name one, as in algorithm: fixed_window"}});
}();

[[nodiscard]] constexpr const AlgorithmTraits& TraitsOf(Algorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}
[[nodiscard]] constexpr std::string_view NameOf(Algorithm algorithm) {
  return TraitsOf(algorithm).name;
}

// By algorithm a bit, which says whether it has a property: a bool of the traits, such as
// &AlgorithmTraits::is_bucket.
template <auto kProperty>
inline constexpr std::uint32_t kAlgorithmsWith = [] {
  static_assert(kAlgorithms.size() <= 32);
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    bits |= std::invoke(kProperty, kAlgorithms[i]) ? 1U << i : 0U;
  }
  return bits;
}();

// Is<&AlgorithmTraits::is_bucket>(algorithm): a shift, where TraitsOf() would read memory.
template <auto kProperty>
[[nodiscard]] constexpr bool Is(Algorithm algorithm) {
  return (kAlgorithmsWith<kProperty> >> static_cast<unsigned>(algorithm) & 1U) != 0;
}
[[nodiscard]] constexpr bool IsBucket(Algorithm algorithm) {
  return Is<&AlgorithmTraits::is_bucket>(algorithm);
}
[[nodiscard]] constexpr bool ChargesDenials(Algorithm algorithm) {
  return Is<&AlgorithmTraits::charges_denials>(algorithm);
}
[[nodiscard]] constexpr bool HasHolds(Algorithm algorithm) {
  return Is<&AlgorithmTraits::has_holds>(algorithm);
}

// All with a property, in the order of the table.
template <auto kProperty>
[[nodiscard]] consteval auto AlgorithmsWith() {
  std::array<Algorithm, std::size_t{std::popcount(kAlgorithmsWith<kProperty>)}> all{};
  std::size_t count = 0;
  for (const AlgorithmTraits& traits : kAlgorithms) {
    if (std::invoke(kProperty, traits)) {
      all[count++] = traits.algorithm;
    }
  }
  return all;
}

inline constexpr auto kAllAlgorithms = [] {
  std::array<Algorithm, kAlgorithms.size()> all{};
  std::ranges::transform(kAlgorithms, all.begin(), &AlgorithmTraits::algorithm);
  return all;
}();
static_assert(std::ranges::all_of(kAllAlgorithms, [](Algorithm algorithm) {
  return TraitsOf(algorithm).algorithm == algorithm;
}));
inline constexpr auto kRuleAlgorithms = AlgorithmsWith<&AlgorithmTraits::in_rules>();

// The one algorithm with holds.
static_assert(AlgorithmsWith<&AlgorithmTraits::has_holds>().size() == 1);
inline constexpr Algorithm kHoldingAlgorithm =
    AlgorithmsWith<&AlgorithmTraits::has_holds>().front();

// One of them for each steps: the first that has these.
[[nodiscard]] constexpr bool IsFirstOfItsSteps(const AlgorithmTraits& traits) {
  return traits.in_rules &&
         std::ranges::find(kAlgorithms, traits.steps, &AlgorithmTraits::steps)->algorithm ==
             traits.algorithm;
}
inline constexpr auto kStepsInRules = AlgorithmsWith<IsFirstOfItsSteps>();

// The names of several, to read one of them.
template <std::size_t kCount>
[[nodiscard]] constexpr auto NamesOf(const std::array<Algorithm, kCount>& algorithms) {
  std::array<std::string_view, kCount> names;
  std::ranges::transform(algorithms, names.begin(),
                         [](Algorithm algorithm) { return NameOf(algorithm); });
  return names;
}

}  // namespace sluice::core
