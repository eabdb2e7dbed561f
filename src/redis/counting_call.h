#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "sluice/time.h"

#include "core/quota.h"
#include "redis/check_request.h"
#include "redis/counter_call.h"
#include "redis/route.h"
#include "store/key_store.h"

namespace sluice::redis {

// Whether what this quota limits is a counter of envoyproxy/ratelimit and no script's key.
[[nodiscard]] inline bool IsCounter(const core::Quota& quota) {
  return quota.algorithm == core::Algorithm::kAttemptWindow && !quota.unlimited;
}

// Room for calls about counters, and the ways that they go. One thread.
class CountingCall;
class CountingCalls {
 public:
  // Where the counters of one-second windows are, and all else. Both may be one.
  CountingCalls(Route& route, Route& seconds);
  ~CountingCalls();
  CountingCalls(const CountingCalls&) = delete;
  CountingCalls& operator=(const CountingCalls&) = delete;

  // A call with at least one check that IsCounter(), each for itself or a peek.
  void Check(store::CheckCall& call, WallInstant wall_clock, Route::Time now);
  // Takes back hits of the window that is.
  void Refund(store::RefundCall& call, WallInstant wall_clock, Route::Time now);
  void Reset(store::ResetCall& call, WallInstant wall_clock, Route::Time now);
  void Kick();

 private:
  friend class CountingCall;

  CountingCall& Take();
  [[nodiscard]] Route& Of(const core::Quota& quota);

  Route& route_;
  Route& seconds_;
  std::vector<std::unique_ptr<CountingCall>> all_;
  std::vector<CountingCall*> free_;
};

// One request with counters: each is asked for itself and all at once, and beside them, as one
// call, what scripts judge.
//
// A counter is named by the only value of its key and the start of its window in seconds since the
// epoch, by this node's clock, as every node of envoyproxy/ratelimit names it. So a node with a
// wrong clock counts in another window.
class CountingCall {
 public:
  explicit CountingCall(CountingCalls& calls) : calls_(calls), rest_(*this) {}
  CountingCall(const CountingCall&) = delete;
  CountingCall& operator=(const CountingCall&) = delete;

  void Check(store::CheckCall& call, WallInstant wall_clock, Route::Time now);
  // `call` is about one counter.
  void AskOne(store::StoreCall& call, CounterCall::Verb verb, const core::KeyView& key,
              const core::Quota& quota, Units hits, WallInstant wall_clock, Route::Time now);

 private:
  class Counter final : public CounterCall {
   public:
    explicit Counter(CountingCall& whole) : whole_(whole) {}
    void OnAnswered() noexcept override { whole_.OnPart(); }
    std::size_t place = 0;  // Of its check in the request.

   private:
    CountingCall& whole_;
  };
  class Rest final : public PartialCheckCall {
   public:
    explicit Rest(CountingCall& whole) : whole_(whole) {}
    void OnAnswered() noexcept override { whole_.OnPart(); }

   private:
    CountingCall& whole_;
  };

  void Begin(store::StoreCall& call, WallInstant wall_clock);
  Counter& Add(CounterCall::Verb verb, const core::KeyView& key, const core::Quota& quota,
               Units hits);
  void OnPart();
  void Finish();
  void Answer(const Counter& counter, store::CheckAnswer& answer) const;

  CountingCalls& calls_;
  store::StoreCall* call_ = nullptr;
  store::CheckCall* checks_ = nullptr;  // call_, where it is one.
  WallInstant wall_clock_{};
  std::vector<std::unique_ptr<Counter>> counters_;  // The first used_ are of this request.
  std::size_t used_ = 0;
  Rest rest_;
  std::size_t open_ = 0;
};

}  // namespace sluice::redis
