#include "insight/record_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "base/random.h"
#include "insight/kept_request.h"

namespace sluice::insight {

namespace {

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

std::uint64_t BoundOf(double share) {
  return share >= 1 ? kAll : static_cast<std::uint64_t>(std::max(share, 0.0) * 0x1p64);
}

bool Drawn(std::uint64_t bound) {
  return bound == kAll || (bound != 0 && base::ThreadRandom().Next() < bound);
}

// Counts up to `most`. Threads that share the counter may lose a count, which does no harm.
bool CountTo(std::atomic<std::uint8_t>& counter, std::uint8_t most) {
  const std::uint8_t count = counter.load(std::memory_order_relaxed);
  if (count >= most) {
    return false;
  }
  counter.store(static_cast<std::uint8_t>(count + 1), std::memory_order_relaxed);
  return true;
}

// The first check that denied the request, or a shadow rule's that would have.
DecisionRecord FirstDenied(const DecisionList& decisions) {
  std::size_t i = 0;
  while (i + 1 < decisions.size() && decisions.At(i).decision->allowed) {
    ++i;
  }
  return decisions.At(i);
}

std::size_t HashOf(const DecisionRecord& decision) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15U;
  std::uint64_t hash = std::hash<std::string_view>()(decision.rule);
  for (const core::KeyPart& part : decision.parts) {
    hash = (hash * kOdd) ^ std::hash<std::string_view>()(part.value);
  }
  return static_cast<std::size_t>((hash * kOdd) >> 32U);
}

}  // namespace

void RecordQueue::Open(std::size_t bytes, bool history, const LogShares& log) {
  bytes_ = std::bit_ceil(std::max(bytes, 2 * kMostBytes));
  for (Shard& shard : shards_) {
    shard.ring.reset(new char[bytes_]);
    shard.scratch.reset(new char[kMostBytes]);
  }
  allowed_bound_ = BoundOf(log.allowed);
  denied_bound_ = BoundOf(log.denied);
  const bool logs = allowed_bound_ != 0 || denied_bound_ != 0;
  uses_.store(
      static_cast<std::uint8_t>((history ? kForHistory : 0) | (logs ? kForLog : 0) | kForTrace),
      std::memory_order_release);
}

void RecordQueue::AddIfWanted(const RequestRecord& request) noexcept {
  const std::uint8_t uses = uses_.load(std::memory_order_acquire);  // Pairs with Open().
  Shard& shard = shards_[telemetry::ThreadShard()];
  std::uint8_t wanted = 0;
  if ((uses & kForHistory) != 0 && HistoryWants(request, shard)) {
    wanted |= kForHistory;
  }
  if ((uses & kForLog) != 0 && LogWants(request)) {
    wanted |= kForLog;
  }
  if (TraceWants()) {
    wanted |= kForTrace;
  }
  if (wanted != 0) {
    Keep(request, wanted, shard);
  }
}

bool RecordQueue::HistoryWants(const RequestRecord& request, Shard& shard) {
  if (!request.any_denied) {
    return CountTo(shard.allowed, kAllowedPerInterval);
  }
  const DecisionRecord denied = FirstDenied(request.decisions);
  // The rule's own counter comes first: in a flood nothing else is looked at.
  const std::size_t rule = denied.number != DecisionRecord::kNoNumber
                               ? denied.number
                               : std::hash<std::string_view>()(denied.rule);
  auto& of_rule = shard.rules[rule % kRuleCounters];
  return of_rule.load(std::memory_order_relaxed) < kDeniedPerRule &&
         CountTo(shard.keys[HashOf(denied) % kKeyCounters], kDeniedPerKey) &&
         CountTo(of_rule, kDeniedPerRule);
}

bool RecordQueue::LogWants(const RequestRecord& request) const {
  return Drawn(request.any_denied ? denied_bound_ : allowed_bound_);
}

bool RecordQueue::TraceWants() {
  return traces_left_.load(std::memory_order_relaxed) > 0 &&
         traces_left_.fetch_sub(1, std::memory_order_relaxed) > 0;
}

void RecordQueue::Keep(const RequestRecord& request, std::uint8_t uses, Shard& shard) noexcept {
  shard.used.store(true, std::memory_order_relaxed);
  if (shard.busy.test_and_set(std::memory_order_acquire)) {
    dropped_.Add();
    return;
  }
  const std::size_t size = EncodeRequest(request, uses, (uses & (kForLog | kForTrace)) != 0,
                                         {shard.scratch.get(), kMostBytes});
  if (size == 0) {
    dropped_.Add();
  } else {
    Push({shard.scratch.get(), size}, shard);
  }
  shard.busy.clear(std::memory_order_release);
}

// A record in the ring: its size, then its bytes.
void RecordQueue::Push(std::string_view bytes, Shard& shard) noexcept {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  const std::uint64_t tail = shard.tail.load(std::memory_order_relaxed);
  // Pairs with Collect(): what it has read may be overwritten.
  const std::uint64_t head = shard.head.load(std::memory_order_acquire);
  if (bytes_ - (tail - head) < sizeof(size) + size) {
    dropped_.Add();
    return;
  }
  CopyIn(shard, tail, {reinterpret_cast<const char*>(&size), sizeof(size)});
  CopyIn(shard, tail + sizeof(size), bytes);
  shard.tail.store(tail + sizeof(size) + size, std::memory_order_release);
}

void RecordQueue::Collect(const std::function<void(std::string_view bytes)>& take) {
  for (Shard& shard : shards_) {
    // Pairs with Push(): what comes before the tail is written.
    const std::uint64_t tail = shard.tail.load(std::memory_order_acquire);
    std::uint64_t head = shard.head.load(std::memory_order_relaxed);
    while (head != tail) {
      head = Pop(shard, head, popped_);
      shard.head.store(head, std::memory_order_release);
      take(popped_);
    }
  }
}

std::uint64_t RecordQueue::Pop(Shard& shard, std::uint64_t head, std::string& bytes) const {
  std::uint32_t size = 0;
  CopyOut(shard, head, reinterpret_cast<char*>(&size), sizeof(size));
  bytes.resize(size);
  CopyOut(shard, head + sizeof(size), bytes.data(), size);
  return head + sizeof(size) + size;
}

void RecordQueue::Refill() {
  for (Shard& shard : shards_) {
    if (!shard.used.exchange(false, std::memory_order_relaxed)) {
      continue;
    }
    shard.allowed.store(0, std::memory_order_relaxed);
    for (auto& counter : shard.rules) {
      counter.store(0, std::memory_order_relaxed);
    }
    for (auto& counter : shard.keys) {
      counter.store(0, std::memory_order_relaxed);
    }
  }
}

void RecordQueue::CopyIn(Shard& shard, std::uint64_t at, std::string_view bytes) const {
  const std::size_t begin = at & (bytes_ - 1);
  const std::size_t first = std::min(bytes.size(), bytes_ - begin);
  std::memcpy(shard.ring.get() + begin, bytes.data(), first);
  std::memcpy(shard.ring.get(), bytes.data() + first, bytes.size() - first);
}

void RecordQueue::CopyOut(const Shard& shard, std::uint64_t at, char* to, std::size_t size) const {
  const std::size_t begin = at & (bytes_ - 1);
  const std::size_t first = std::min(size, bytes_ - begin);
  std::memcpy(to, shard.ring.get() + begin, first);
  std::memcpy(to + first, shard.ring.get(), size - first);
}

}  // namespace sluice::insight
