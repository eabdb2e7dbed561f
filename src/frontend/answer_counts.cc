#include "frontend/answer_counts.h"

#include <algorithm>

namespace sluice::frontend {

namespace {

// Shown at 0 as well, so that a first one is seen as a rise.
constexpr std::array kAlwaysShown{200, 400, 401, 403, 404, 429, 500, 503};

}  // namespace

LoopAnswers& AnswerCounts::Add(std::string_view listener) {
  auto at = std::ranges::find(listeners_, listener, &Listener::name);
  if (at == listeners_.end()) {
    at = listeners_.insert(listeners_.end(), {std::string(listener), {}});
  }
  return *at->loops.emplace_back(std::make_unique<LoopAnswers>());
}

void AnswerCounts::Write(telemetry::Exposition& out) const {
  constexpr std::string_view kName = "sluice_http_requests_total";
  out.Family(kName, "HTTP requests answered, by listener and status.",
             telemetry::Exposition::Type::kCounter);
  for (const Listener& listener : listeners_) {
    for (int status = LoopAnswers::kFirst; status < LoopAnswers::kEnd; ++status) {
      std::uint64_t count = 0;
      for (const auto& loop : listener.loops) {
        count += loop->Read(status);
      }
      if (count != 0 || std::ranges::find(kAlwaysShown, status) != kAlwaysShown.end()) {
        const std::string text = std::to_string(status);
        const telemetry::Label labels[] = {{"listener", listener.name}, {"status", text}};
        out.Sample(kName, labels, count);
      }
    }
  }
}

}  // namespace sluice::frontend
