#include "net/timer_wheel.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"

namespace sluice::net {
namespace {

constexpr std::uint64_t kCoarseTicks = 64;

}  // namespace

// How the levels work. Level 0 has a slot per tick, level 1 a slot per 64 ticks, and so on.
// A timer lies on the level of the highest digit (base 64) in which its tick differs from
// the current one, in the slot which that digit names. So all digits above are equal, the
// slot lies ahead of the current digit, and when the clock reaches the slot's beginning its
// timers move to lower levels. A timer further ahead than the top level reaches waits in the
// top slot that comes last, and is placed again from there.

void Timer::Cancel() {
  if (wheel_ != nullptr) {
    wheel_->Unlink(*this);
  }
}

TimerWheel::TimerWheel(SteadyTime start) : start_(start) {}

TimerWheel::~TimerWheel() {
  for (Timer*& slot : slots_) {
    while (slot != nullptr) {
      Unlink(*slot);
    }
  }
}

void TimerWheel::Arm(Timer& timer, SteadyTime when, TimerPrecision precision) {
  timer.Cancel();
  // Rounded up, as a timer is never early.
  const auto ahead = std::chrono::ceil<std::chrono::milliseconds>(when - start_).count();
  std::uint64_t tick = ahead > 0 ? static_cast<std::uint64_t>(ahead) : 0;
  if (precision == TimerPrecision::kCoarse) {
    tick = (tick + kCoarseTicks - 1) / kCoarseTicks * kCoarseTicks;
  }
  timer.tick_ = std::max(tick, tick_ + 1);
  Link(timer);
}

void TimerWheel::Link(Timer& timer) {
  SLUICE_DCHECK(timer.tick_ > tick_);
  const int digit = (63 - std::countl_zero(timer.tick_ ^ tick_)) / kBits;
  const int level = std::min(digit, kLevels - 1);
  const int shift = level * kBits;
  const std::uint64_t distance = (timer.tick_ >> shift) - (tick_ >> shift);
  const std::uint64_t place = (tick_ >> shift) + std::min<std::uint64_t>(distance, kSlots - 1);
  const auto bit = static_cast<int>(place % kSlots);
  timer.wheel_ = this;
  timer.slot_ = level * kSlots + bit;
  used_[static_cast<std::size_t>(level)] |= std::uint64_t{1} << bit;
  ++size_;
  Timer*& head = slots_[static_cast<std::size_t>(timer.slot_)];
  timer.next_ = head;
  timer.link_ = &head;
  if (head != nullptr) {
    head->link_ = &timer.next_;
  }
  head = &timer;
}

void TimerWheel::Unlink(Timer& timer) {
  *timer.link_ = timer.next_;
  if (timer.next_ != nullptr) {
    timer.next_->link_ = timer.link_;
  }
  timer.wheel_ = nullptr;
  --size_;
  if (timer.slot_ >= 0 && slots_[static_cast<std::size_t>(timer.slot_)] == nullptr) {
    used_[static_cast<std::size_t>(timer.slot_ / kSlots)] &=
        ~(std::uint64_t{1} << (timer.slot_ % kSlots));
  }
}

// The next tick at which a slot must be looked at.
std::optional<TimerWheel::Stop> TimerWheel::NextStop() const {
  for (int level = 0; level < kLevels; ++level) {
    const std::uint64_t used = used_[static_cast<std::size_t>(level)];
    if (used == 0) {
      continue;
    }
    const int shift = level * kBits;
    const std::uint64_t now = tick_ >> shift;
    // Turned so that bit 0 is the slot after the current one: the top level goes around.
    const auto turn = static_cast<int>((now + 1) % kSlots);
    const auto ahead = static_cast<std::uint64_t>(std::countr_zero(std::rotr(used, turn))) + 1;
    return Stop{.tick = (now + ahead) << shift,
                .slot = level * kSlots + static_cast<int>((now + ahead) % kSlots)};
  }
  return std::nullopt;
}

std::optional<SteadyTime> TimerWheel::NextWake() const {
  const std::optional<Stop> stop = NextStop();
  if (!stop) {
    return std::nullopt;
  }
  return start_ + kTimerStep * static_cast<std::int64_t>(stop->tick);
}

void TimerWheel::Advance(SteadyTime now) {
  const auto ahead = std::chrono::floor<std::chrono::milliseconds>(now - start_).count();
  const std::uint64_t target = ahead > 0 ? static_cast<std::uint64_t>(ahead) : 0;
  while (const std::optional<Stop> stop = NextStop()) {
    if (stop->tick > target) {
      break;
    }
    tick_ = stop->tick;
    RunSlot(stop->slot);
  }
  tick_ = std::max(tick_, target);
}

void TimerWheel::RunSlot(int slot) {
  // The slot's timers in a separate list, from which actions may still cancel them.
  Timer* list = nullptr;
  std::swap(list, slots_[static_cast<std::size_t>(slot)]);
  used_[static_cast<std::size_t>(slot / kSlots)] &= ~(std::uint64_t{1} << (slot % kSlots));
  list->link_ = &list;
  for (Timer* timer = list; timer != nullptr; timer = timer->next_) {
    timer->slot_ = -1;
  }
  while (list != nullptr) {
    Timer& timer = *list;
    Unlink(timer);
    if (timer.tick_ > tick_) {
      Link(timer);  // To a lower level.
    } else {
      timer.action_();  // May have destroyed it.
    }
  }
}

}  // namespace sluice::net
