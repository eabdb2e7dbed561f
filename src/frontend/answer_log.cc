#include "frontend/answer_log.h"

#include <algorithm>

namespace sluice::frontend {

namespace {

// What the client's own doing is answered with in the ordinary course of things.
constexpr std::array kOrdinary{408, 409, 412, 422, 429};

}  // namespace

void AnswerLog::Note(Duration now, int status, std::string_view peer, std::string_view detail) {
  const auto index = static_cast<std::size_t>(status - kFirst);
  if (status < kFirst || index >= kinds_.size() ||
      std::ranges::find(kOrdinary, status) != kOrdinary.end()) {
    return;
  }
  Kind& kind = kinds_[index];
  std::int64_t next = kind.next_ns.load(std::memory_order_relaxed);
  if (now.count() < next || !kind.next_ns.compare_exchange_strong(next, (now + kInterval).count(),
                                                                  std::memory_order_relaxed)) {
    kind.others.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  write_({.status = status,
          .peer = peer,
          .detail = detail,
          .others = kind.others.exchange(0, std::memory_order_relaxed)});
}

}  // namespace sluice::frontend
