#include "telemetry/span_queue.h"

#include <algorithm>
#include <bit>

namespace sluice::telemetry {

SpanQueue::SpanQueue(std::size_t capacity)
    : mask_(std::bit_ceil(std::max<std::size_t>(capacity, 2)) - 1), cells_(mask_ + 1) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    cells_[i].turn.store(i, std::memory_order_relaxed);
  }
}

// A cell's turn is the position that may be pushed there next, or that position plus one once it
// has been. Acquire and release pair pushing with taking: a thread that sees a turn sees the span
// of the turn before.
void SpanQueue::Push(const Span& span) noexcept {
  std::uint64_t position = next_push_.load(std::memory_order_relaxed);
  for (;;) {
    Cell& cell = cells_[position & mask_];
    const std::uint64_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn == position) {
      if (next_push_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        cell.span = span;
        cell.turn.store(position + 1, std::memory_order_release);
        return;
      }
    } else if (turn < position) {
      dropped_.Add();  // The span of a round ago is still there.
      return;
    } else {
      position = next_push_.load(std::memory_order_relaxed);
    }
  }
}

void SpanQueue::Take(std::size_t most, std::vector<Span>& spans) {
  for (; most > 0; --most) {
    Cell& cell = cells_[next_take_ & mask_];
    if (cell.turn.load(std::memory_order_acquire) != next_take_ + 1) {
      return;
    }
    spans.push_back(cell.span);
    cell.turn.store(next_take_ + mask_ + 1, std::memory_order_release);
    ++next_take_;
  }
}

}  // namespace sluice::telemetry
