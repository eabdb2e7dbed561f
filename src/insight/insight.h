#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "insight/record_queue.h"
#include "insight/request_record.h"
#include "insight/request_span.h"
#include "insight/sample_ring.h"
#include "insight/sampler.h"
#include "insight/top_keys.h"
#include "telemetry/span_queue.h"

namespace sluice::insight {

// What operators see of decisions. A daemon has one, and everything that decides requests tells it
// of each: rules, CL.THROTTLE and Envoy's limits. Peeks are not recorded. libsluice has none.
//
// A thread that decides writes samples into a ring of its own. Tick() and what reads take them
// from there. While a thread records fewer than about 4,000 requests a second, every request is a
// sample, and counts are exact up to the error of TopKeys; beyond that, samples are picked at
// random (Sampler), and counts are estimates with a known error. Requests that some rule denies
// are picked apart from the others.
//
// What decides links insight.cc, and libsluice with it: it must need no wire, no socket and no
// file. What writes JSON or files reads from here in objects of its own.
class Insight {
 public:
  // `clock` outlives it.
  explicit Insight(const base::Clock& clock);
  Insight(const Insight&) = delete;
  Insight& operator=(const Insight&) = delete;
  ~Insight();

  // Once per decided request, by the thread that decided it, before its answer is written. Safe
  // from any thread. Allocates nothing (but in the first call of a thread), takes no lock, writes
  // no log and makes no system call.
  void Record(const RequestRecord& request) noexcept {
    records_.Add(request);
    if (request.trace != nullptr && spans_ != nullptr) [[unlikely]] {
      spans_->Push(SpanOf(request));
    }
    ThreadShare* const share = mine_.owner == serial_ ? mine_.share : Join();
    if (share == nullptr) [[unlikely]] {
      lost_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    Sampler& sampler = request.any_denied ? share->denied : share->allowed;
    if (sampler.Picks()) [[unlikely]] {
      Keep(request, *share, sampler);
    }
  }

  // Requests of sampled traces leave a span in `spans`, which outlives this. Called before other
  // threads record.
  void SetSpans(telemetry::SpanQueue* spans) { spans_ = spans; }

  // Call it every kTick: it takes the samples and sets how many of the coming ones are picked.
  // True: a half of the minute is over, and Top() has all of it. Safe from any thread, as all
  // below.
  bool Tick();
  static constexpr Duration kTick = std::chrono::milliseconds(250);
  // Forgets the rules for which `keep` is false.
  void KeepRules(const std::function<bool(std::string_view rule)>& keep);

  struct TopReading {
    WallInstant now{};
    Duration covered{};  // How long the window is.
    std::size_t capacity = 0;
    std::vector<RuleTop> rules;
  };
  // What was decided until now.
  [[nodiscard]] TopReading Top(const TopKeys::Query& query);

  // See TopKeys.
  [[nodiscard]] std::vector<RuleShare> Shares(double share, std::uint64_t least_total);

  // Requests that left no sample because a ring was full, or because kMostThreads recorded before
  // this thread.
  [[nodiscard]] std::uint64_t lost() const noexcept {
    return lost_.load(std::memory_order_relaxed);
  }

  // Copies of requests, for the last decisions and the decision log.
  [[nodiscard]] RecordQueue& records() { return records_; }

 private:
  static constexpr std::size_t kMostThreads = 256;
  // A quarter of the ring if an entry has 64 bytes. What comes while no thread reads fits into the
  // rest, for then the step rises (ShiftAt()).
  static constexpr std::uint64_t kSamplesPerTick = 1'000;

  struct ThreadShare {
    const std::thread::id thread = std::this_thread::get_id();
    Sampler allowed;
    Sampler denied;
    SampleRing ring;
    // For how many decisions the samples of this tick stand. Guarded by mutex_.
    std::uint64_t allowed_seen = 0;
    std::uint64_t denied_seen = 0;
  };
  // The calling thread's share in the Insight that it recorded for last.
  struct Mine {
    std::uint64_t owner = 0;
    ThreadShare* share = nullptr;
  };
  static thread_local constinit Mine mine_;

  [[nodiscard]] ThreadShare* Join() noexcept;
  void Keep(const RequestRecord& request, ThreadShare& share, Sampler& sampler) noexcept;
  void Collect(WallInstant now);

  const base::Clock& clock_;
  const std::uint64_t serial_;
  const base::ClockReading started_;
  std::atomic<std::uint64_t> lost_{0};
  std::mutex mutex_;  // Guards all below. Record() takes it only in Join().
  std::vector<std::unique_ptr<ThreadShare>> shares_;
  TopKeys top_;
  RecordQueue records_;
  telemetry::SpanQueue* spans_ = nullptr;
};

}  // namespace sluice::insight
