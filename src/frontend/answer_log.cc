#include "frontend/answer_log.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice::frontend {

namespace {

// Statuses that answer a client in the ordinary course of things.
constexpr std::array kOrdinary{408, 409, 412, 422, 429};

}  // namespace

bool AnswerLog::IsRefusal(int http_status) {
  return http_status >= 400 && std::ranges::find(kOrdinary, http_status) == kOrdinary.end();
}

void AnswerLog::Note(Duration now, int status, std::string_view peer, std::string_view detail) {
  SLUICE_DCHECK(status >= 0 && static_cast<std::size_t>(status) < kinds_.size());
  Kind& kind = kinds_[static_cast<std::size_t>(status)];
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
