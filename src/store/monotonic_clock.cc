#include "store/monotonic_clock.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

namespace sluice::store {

namespace {

constexpr std::int64_t kTickNs = 1'000'000;
// More than a thread loses between its readings of the two clocks, also where it has to wait.
constexpr std::int64_t kStepNs = 500'000'000;
// What NTP may slew a clock by: up to 500 parts in a million. Twice that is no step.
constexpr std::int64_t kSlewed = 1'000;

// Whether the wall clock went another way than the monotonic one, which went `passed` > 0.
bool IsStep(std::int64_t passed, std::int64_t last_wall_clock, std::int64_t wall_clock) {
  const std::int64_t may_be_off = kStepNs + passed / kSlewed;
  std::int64_t off = 0;
  return __builtin_sub_overflow(wall_clock, last_wall_clock, &off) ||
         __builtin_sub_overflow(off, passed, &off) || off > may_be_off || off < -may_be_off;
}

}  // namespace

MonotonicClock::MonotonicClock(ClockRecord& record, const base::ClockReading& now,
                               const BootId& boot_id, bool is_new)
    : record_(&record) {
  const std::int64_t wall_clock = now.wall_clock.time_since_epoch().count();
  // Killed between any two of these, a table loses time that passed, and never counts it twice.
  const std::int64_t passed = std::max<std::int64_t>(0, wall_clock - record.last_wall_clock_ns);
  record.last_wall_clock_ns = wall_clock;
  if (is_new) {
    record.offset_ns = wall_clock - now.boot.count();
    record.last_monotonic_ns = wall_clock;
  } else {
    if (record.boot_id != boot_id) {
      record.last_monotonic_ns = record.last_monotonic_ns + passed;
      record.offset_ns = record.last_monotonic_ns - now.boot.count();
    }
    record.offset_ns =
        std::max(record.offset_ns.load(), record.last_monotonic_ns.load() - now.boot.count());
  }
  record.boot_id = boot_id;
}

// All of it is relaxed: no other memory is read by what these numbers say. A thread that sees an
// older `last_monotonic_ns` answers its own reading, as if it had come first. The offset does not
// change once the table is open.
TableNow MonotonicClock::Now(const base::ClockReading& reading) {
  const std::int64_t monotonic =
      reading.boot.count() + record_->offset_ns.load(std::memory_order_relaxed);
  const std::int64_t last = record_->last_monotonic_ns.load(std::memory_order_relaxed);
  if (monotonic >= last + kTickNs) {
    Note(monotonic, reading.wall_clock);
  }
  return {.monotonic = TableInstant(Duration(std::max(monotonic, last))),
          .wall_clock = reading.wall_clock};
}

// One thread at a time, so that both times are of the same reading; a thread that finds another one
// at it leaves the note to that one. The wall clock is stored first: a process that is killed in
// between loses a tick, and counts none twice.
void MonotonicClock::Note(std::int64_t monotonic, WallInstant wall_clock) {
  if (noting_.test_and_set(std::memory_order_acquire)) {
    return;
  }
  const std::int64_t last = record_->last_monotonic_ns.load(std::memory_order_relaxed);
  if (monotonic > last) {
    const std::int64_t wall_clock_ns = wall_clock.time_since_epoch().count();
    // What the record has at first may be of different moments: another process noted it.
    if (has_noted_ &&
        IsStep(monotonic - last, record_->last_wall_clock_ns.load(std::memory_order_relaxed),
               wall_clock_ns)) {
      wall_clock_steps_.fetch_add(1, std::memory_order_relaxed);
    }
    has_noted_ = true;
    record_->last_wall_clock_ns.store(wall_clock_ns, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    record_->last_monotonic_ns.store(monotonic, std::memory_order_relaxed);
  }
  noting_.clear(std::memory_order_release);
}

BootId CurrentBootId() {
  BootId id{};
  std::FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r");
  if (file == nullptr) {
    return id;
  }
  std::array<char, 40> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  std::size_t digits = 0;
  for (std::size_t i = 0; i < size && digits < 32; ++i) {
    const char c = text[i];
    unsigned value = 0;
    if (c >= '0' && c <= '9') {
      value = static_cast<unsigned>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = static_cast<unsigned>(c - 'a') + 10;
    } else {
      continue;
    }
    std::uint8_t& byte = id[digits / 2];
    byte = static_cast<std::uint8_t>((unsigned{byte} << 4U) | value);
    ++digits;
  }
  return id;
}

}  // namespace sluice::store
