#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "insight/request_record.h"
#include "telemetry/counter.h"

namespace sluice::insight {

// What a kept record is for: bits.
enum RecordUse : std::uint8_t {
  kForHistory = 1,  // The last decisions that operators can list.
  kForLog = 2,      // The decision log.
  kForTrace = 4,    // Requests that operators asked to see whole.
};

// Records on their way from the threads that decide to the one that collects them. It bounds both
// the memory and the rate, so that no flood of requests or denials costs more than a look:
//
//   history  Of each interval the first records only: of what was allowed, of each rule's denials,
//            and of each key's. So a flood of one rule's or key's denials leaves room for others.
//   log      A random share of all, and another of denials.
//   trace    As many of the next ones as AllowTraces() says.
//
// Each thread that decides has a ring of bytes of its own. If it is full, because the collector is
// late, the record is dropped and counted.
class RecordQueue {
 public:
  // How many records of one thread the history takes of each interval between two calls of
  // Refill(). Rules and keys share counters by their hash, so they may get less.
  static constexpr std::uint8_t kAllowedPerInterval = 32;
  static constexpr std::uint8_t kDeniedPerRule = 32;
  static constexpr std::uint8_t kDeniedPerKey = 4;

  // Shares of requests, from 0 to 1.
  struct LogShares {
    double allowed = 0;
    double denied = 0;
  };

  RecordQueue() = default;
  RecordQueue(const RecordQueue&) = delete;
  RecordQueue& operator=(const RecordQueue&) = delete;

  // Begins to take records. `bytes`: of each thread's ring, rounded up to a power of two. Called
  // once, before other threads add; until then nothing is kept.
  void Open(std::size_t bytes, bool history, const LogShares& log);

  // Keeps a copy of `request` if it is to be kept. Any thread; never waits, allocates nothing.
  void Add(const RequestRecord& request) noexcept {
    if (uses_.load(std::memory_order_relaxed) != 0) {
      AddIfWanted(request);
    }
  }

  // Calls `take` with the bytes of each record that was kept since the last call (see
  // DecodeRequest()). Records of one thread are in order. One thread at a time.
  void Collect(const std::function<void(std::string_view bytes)>& take);
  // Begins another interval. The same thread as Collect().
  void Refill();
  // The next `count` requests are kept for the trace, with their attributes. Any thread.
  void AllowTraces(std::int32_t count) { traces_left_.store(count, std::memory_order_relaxed); }

  // Records that were to be kept but found no room.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_.Read(); }

 private:
  static constexpr std::size_t kRuleCounters = 64;
  static constexpr std::size_t kKeyCounters = 256;
  static constexpr std::size_t kMostBytes = std::size_t{64} * 1024;  // Of one record.

  // A thread's part. Threads beyond telemetry::kShards share parts, so one may find its part in
  // use; then it drops its record, and does not wait.
  struct alignas(telemetry::kCacheLine) Shard {
    std::atomic_flag busy;
    std::atomic<bool> used{false};  // Since the last Refill().
    std::atomic<std::uint64_t> tail{0};
    std::atomic<std::uint8_t> allowed{0};
    std::array<std::atomic<std::uint8_t>, kRuleCounters> rules{};
    std::array<std::atomic<std::uint8_t>, kKeyCounters> keys{};
    alignas(telemetry::kCacheLine) std::atomic<std::uint64_t> head{0};
    std::unique_ptr<char[]> ring;     // NOLINT(modernize-avoid-c-arrays): memory not touched yet.
    std::unique_ptr<char[]> scratch;  // NOLINT(modernize-avoid-c-arrays): of one record.
  };

  void AddIfWanted(const RequestRecord& request) noexcept;
  [[nodiscard]] static bool HistoryWants(const RequestRecord& request, Shard& shard);
  [[nodiscard]] bool LogWants(const RequestRecord& request) const;
  [[nodiscard]] bool TraceWants();
  void Keep(const RequestRecord& request, std::uint8_t uses, Shard& shard) noexcept;
  void Push(std::string_view bytes, Shard& shard) noexcept;
  [[nodiscard]] std::uint64_t Pop(Shard& shard, std::uint64_t head, std::string& bytes) const;
  void CopyIn(Shard& shard, std::uint64_t at, std::string_view bytes) const;
  void CopyOut(const Shard& shard, std::uint64_t at, char* to, std::size_t size) const;

  std::atomic<std::uint8_t> uses_{0};
  std::atomic<std::int32_t> traces_left_{0};
  // A record goes to the log if a random number of 64 bits is below the bound, or if the bound is
  // the greatest number.
  std::uint64_t allowed_bound_ = 0;
  std::uint64_t denied_bound_ = 0;
  std::size_t bytes_ = 0;  // Of each ring: a power of two.
  std::array<Shard, telemetry::kShards> shards_;
  telemetry::Counter dropped_;
  std::string popped_;
};

}  // namespace sluice::insight
