#include "frontend/answer_counts.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace sluice::frontend {

namespace {

struct Family {
  std::string_view name;
  std::string_view help;
  std::string_view label;
  // Shown at 0 as well, so that the first one is seen as an increase.
  std::initializer_list<int> always_shown;
};

constexpr std::array kFamilies{Family{"sluice_http_requests_total",
                                      "HTTP requests answered, by listener and status.",
                                      "status",
                                      {200, 400, 401, 403, 404, 429, 500, 503}},
                               Family{"sluice_grpc_calls_total",
                                      "gRPC calls answered, by listener and status code.",
                                      "code",
                                      {0, 3, 8, 12, 14, 16}},
                               Family{"sluice_resp_commands_total",
                                      "Redis commands answered, by listener and result.",
                                      "result",
                                      {AnswerCounts::kRespAnswer, AnswerCounts::kRespError}}};

}  // namespace

LoopAnswers& AnswerCounts::Add(std::string_view listener) {
  auto at = std::ranges::find(listeners_, listener, &Listener::name);
  if (at == listeners_.end()) {
    at = listeners_.insert(listeners_.end(), {std::string(listener), {}});
  }
  return *at->loops.emplace_back(std::make_unique<LoopAnswers>());
}

void AnswerCounts::Write(telemetry::Exposition& out) const {
  if (listeners_.empty()) {
    return;
  }
  const Family& family = kFamilies[static_cast<std::size_t>(protocol_)];
  out.Family(family.name, family.help, telemetry::Exposition::Type::kCounter);
  for (const Listener& listener : listeners_) {
    for (int status = 0; status < LoopAnswers::kEnd; ++status) {
      std::uint64_t count = 0;
      for (const auto& loop : listener.loops) {
        count += loop->Read(status);
      }
      const auto& always = family.always_shown;
      if (count != 0 || std::find(always.begin(), always.end(), status) != always.end()) {
        const std::string text = protocol_ != Protocol::kResp ? std::to_string(status)
                                 : status == kRespError       ? "error"
                                                              : "ok";
        const telemetry::Label labels[] = {{"listener", listener.name}, {family.label, text}};
        out.Sample(family.name, labels, count);
      }
    }
  }
}

}  // namespace sluice::frontend
