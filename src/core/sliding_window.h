#pragma once

#include <algorithm>
#include <cstdint>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/judging.h"
#include "core/quota.h"
#include "core/wide.h"

namespace sluice::core {

// The sliding window of segments: between the log's exactness and the counter's two numbers.
//
// The problem: the counter pretends that a whole window was spent evenly; the log remembers
// every request. How much better can a few numbers do?
//
// The idea: cut the window into S segments (48 by default) and count each. The window that
// ends now covers the S newest segments and a part of one older; only that one is guessed:
//
//     used = floor(oldest * covered part) + all newer ones
//
// So any W admits at most twice the limit, any (1 - 1/S) W at most the limit. With `strict`
// the oldest segment counts whole: then no W ever admits more than the limit, and a unit
// comes back up to W / S late.
//
// Corner cases:
// - W need not be a multiple of S: segment n begins at n * W / S exactly, in fractions of a
//   nanosecond (see SegmentPlace).
// - The wait is solved for, not tried: used only falls while there are no charges, so walk from
//   the oldest segment to the first without which the cost fits; the wait ends within its
//   time as the oldest one, or when it leaves.
// - Segments are aligned by the wall clock once, when the key is fresh; from then on they follow
//   one another on the monotonic clock.
// - Empty segments are not kept: at most S + 1 entries, whatever the traffic.
//
// Sources: ours; S = 1 is Cloudflare's counter (sliding_window_counter.cc), and the cut into
// segments is how Bucket4j's and resilience4j's time-based windows keep theirs.

struct SegmentPlace {
  std::int64_t number = 0;  // Of the segment that holds an offset.
  std::uint64_t into = 0;   // How far into it that is, in 1/S nanoseconds: 0 to W - 1.
};

// The arithmetic of the segments, W / S each, whether or not that is a whole number of nanoseconds.
// Positions are counted in 1/S nanoseconds, in which a segment is W long, so that nothing is ever
// rounded; 128 bits hold them. Offsets are nanoseconds since the state's origin, where segment 0
// begins.
//
// Where `offset` >= 0 lies.
[[nodiscard]] SegmentPlace PlaceOf(const Quota& quota, std::uint64_t offset);
// The first whole nanosecond at or after `into` (1/S ns, 0 to W) within segment `number`.
[[nodiscard]] std::int64_t OffsetOf(const Quota& quota, std::int64_t number, std::uint64_t into);
// What the oldest, partly covered segment weighs: floor(units * (W - into) / W); whole where
// the quota is strict.
[[nodiscard]] Units WeightOf(const Quota& quota, Units units, std::uint64_t into);
// The least `into` at which it weighs at most `spare` < units; W where only leaving helps.
[[nodiscard]] std::uint64_t IntoUntilWithin(const Quota& quota, Units units, Units spare);

// Steps are pure and static, as in bucket.h; `list` holds the entries that `state` sums up.
template <class Clock>
class SlidingWindow {
 public:
  static constexpr const AlgorithmTraits& kTraits = TraitsOf(Algorithm::kSlidingWindow);
  using Instant = BasicInstant<Clock>;
  using Now = BasicNow<Clock>;

  // All zero is a fresh key.
  struct State {
    Units used = 0;              // Units in all entries, outlived ones not yet dropped included.
    std::int64_t origin_ns = 0;  // Where segment 0 begins: an epoch-aligned window edge, by the
                                 // wall clock when the key was fresh.
    std::int64_t touched_ns = 0;
  };
  static_assert(sizeof(State) == 24);

  // Entry.at is the number of a segment, counted from state.origin_ns. Requires FaultOf(quota)
  // silent and cost in 0..kMaxUnits; the same for all steps.
  template <EntryList List>
  [[nodiscard]] static ListOutcome<State> Check(const Quota& quota, const State& state,
                                                const List& list, const Now& now, Cost cost) {
    return Judge(quota, state, list, now, cost, Verb::kCheck);
  }

  // The verdict, reason and retry_after of a check of `cost`; remaining and reset_after of now.
  template <EntryList List>
  [[nodiscard]] static ListOutcome<State> Peek(const Quota& quota, const State& state,
                                               const List& list, const Now& now, Cost cost) {
    return Judge(quota, state, list, now, cost, Verb::kPeek);
  }

  // Gives `units` back, from the newest segments first, never above the whole quota.
  template <EntryList List>
  [[nodiscard]] static ListRefund<State> Refund(const Quota& quota, const State& state,
                                                const List& list, const Now& now, Units units) {
    if (quota.unlimited || units == 0) {
      return {.state = state};
    }
    const Seen seen = See(quota, state, list, now);
    const Units take = std::min(units, seen.live);
    if (take == seen.live) {
      return {.state = State{}, .drop = seen.drop, .take = take};
    }
    State refunded = seen.state;
    refunded.used = seen.live - take;
    refunded.touched_ns = seen.now;
    return {.state = refunded, .drop = seen.drop, .take = take};
  }

  // From when on the state is a fresh key's: its newest segment is outlived. Instant{} for one
  // that is.
  template <EntryList List>
  [[nodiscard]] static Instant Expiry(const Quota& quota, const State& state, const List& list) {
    return Instant(Duration(state.used == 0 ? 0 : EndOf(quota, state.origin_ns, NewestOf(list))));
  }

 private:
  // A state brought to where it is judged.
  struct Seen {
    State state;  // As stored, its times moved if a shared store's clock stepped back.
    std::int64_t now = 0;
    std::int64_t origin = 0;  // Of the segments; for a fresh key by the wall clock.
    SegmentPlace place{};     // Of now.
    Units live = 0;           // In segments that count, the oldest whole; 0 for a fresh key.
    Units used = 0;           // The same with the oldest at its weight.
    std::uint32_t drop = 0;   // How many of the oldest entries are outlived.
  };

  template <EntryList List>
  static Seen See(const Quota& quota, const State& state, const List& list, const Now& now) {
    Seen seen{.state = state, .now = now.monotonic.time_since_epoch().count()};
    if (state.used > 0) {
      const TimeReading reading = ReadTime<Clock>(seen.now, state.touched_ns);
      seen.now = reading.now;
      if (reading.back != 0) {
        seen.state.touched_ns = reading.now;
        seen.state.origin_ns = Minus(state.origin_ns, reading.back);
      }
      seen.origin = seen.state.origin_ns;
      seen.place = PlaceOf(quota, Elapsed(seen.origin, seen.now));
      const std::int64_t oldest = seen.place.number - quota.segments;
      seen.live = state.used;
      Units partly = 0;
      list.ForEach([&](Entry entry) {
        if (entry.at == oldest) {
          partly = entry.units;
        }
        if (entry.at >= oldest) {
          return false;
        }
        seen.live -= entry.units;
        ++seen.drop;
        return true;
      });
      seen.used = seen.live - partly + WeightOf(quota, partly, seen.place.into);
    }
    if (seen.live == 0) {
      const std::int64_t past =
          PastMultiple(now.wall_clock.time_since_epoch().count(), quota.window.count());
      seen.origin = Minus(seen.now, past);
      seen.place = PlaceOf(quota, static_cast<std::uint64_t>(past));
    }
    return seen;
  }

  template <EntryList List>
  static std::int64_t NewestOf(const List& list) {
    std::int64_t at = 0;
    list.ForEachNewestFirst([&at](Entry entry) {
      at = entry.at;
      return false;
    });
    return at;
  }

  // When segment `number` no longer counts.
  static std::int64_t EndOf(const Quota& quota, std::int64_t origin, std::int64_t number) {
    return Plus(origin, OffsetOf(quota, number + quota.segments + 1, 0));
  }

  // When at most `spare` units of what is live still count.
  template <EntryList List>
  static std::int64_t RetryAfter(const Quota& quota, const Seen& seen, const List& list,
                                 Units spare) {
    std::uint32_t index = 0;
    Units newer = seen.live;
    std::int64_t then = seen.now;
    list.ForEach([&](Entry entry) {
      if (index++ < seen.drop) {
        return true;
      }
      newer -= entry.units;
      if (newer > spare) {
        return true;
      }
      const std::uint64_t into = IntoUntilWithin(quota, entry.units, spare - newer);
      then = Plus(seen.origin, OffsetOf(quota, entry.at + quota.segments, into));
      return false;
    });
    return Until(seen.now, then);
  }

  template <EntryList List>
  static ListOutcome<State> Judge(const Quota& quota, const State& state, const List& list,
                                  const Now& now, Cost cost, Verb verb) {
    if (quota.unlimited) {
      return {.decision = UnlimitedDecision(), .on_allow = state, .on_deny = state};
    }
    const Seen seen = See(quota, state, list, now);
    ListOutcome<State> outcome{.decision = {}, .on_allow = seen.state, .on_deny = seen.state};
    Decision& decision = outcome.decision;
    decision.limit = quota.limit;
    decision.remaining = std::max<Units>(quota.limit - seen.used, 0);
    if (seen.live > 0) {
      decision.reset_after = Duration(Until(seen.now, EndOf(quota, seen.origin, NewestOf(list))));
    }
    const Reason never = ReasonForNever(quota.limit, cost);
    if (never != Reason::kNone) {
      Deny(decision, never, Decision::kNever);
    } else if (cost.units > decision.remaining) {
      Deny(decision, Reason::kQuotaExceeded,
           Duration(RetryAfter(quota, seen, list, quota.limit - cost.units)));
    } else {
      decision.allowed = true;
      if (verb == Verb::kCheck && cost.units > 0) {
        outcome.on_allow = {
            .used = seen.live + cost.units, .origin_ns = seen.origin, .touched_ns = seen.now};
        outcome.drop = seen.drop;
        outcome.append = {.at = seen.place.number, .units = cost.units};
        decision.remaining -= cost.units;
        decision.reset_after =
            Duration(Until(seen.now, EndOf(quota, seen.origin, seen.place.number)));
      }
    }
    return outcome;
  }
};

}  // namespace sluice::core
