#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "envoy/rate_limit_call.h"
#include "frontend/http/handlers.h"
#include "wire/rls_json.h"
#include "wire/rls_request.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

// One request of /json, from its body to its answer. The exchange owns it.
class RateLimitTask final : public Task, private envoy::RateLimitCall {
 public:
  RateLimitTask(Exchange& exchange, envoy::RateLimitService& service)
      : exchange_(exchange), service_(service) {}

  [[nodiscard]] bool Read(std::string_view body) {
    request = &request_;
    return json_.Read(body, request_);
  }

  void Start() override {
    envoy::ConfigurationPin pin(service_);
    RateLimitCall* const self = this;
    service_.Decide({&self, 1}, pin);
  }

 private:
  void OnDecided() noexcept override {
    if (failure != Failure::kNone) {
      exchange_.AnswerText(400, kPlain, "Bad Request\n");
    } else {
      std::string body;
      response.AppendJson(body);
      const bool over = response.overall_code == wire::RlsCode::kOverLimit;
      exchange_.AnswerText(over ? 429 : 200, "application/json", body);
    }
    exchange_.OnTaskDone();
  }

  Exchange& exchange_;
  envoy::RateLimitService& service_;
  wire::RlsJson json_;
  wire::RlsRequest request_;
};

}  // namespace

void HandleRateLimitJson(const Routed& routed) {
  Exchange& exchange = routed.exchange;
  auto task = std::make_unique<RateLimitTask>(exchange, routed.at.settings.envoy->rate_limits);
  if (task->Read(routed.request.body)) {
    exchange.Run(std::move(task));
  } else {
    exchange.AnswerText(400, kPlain, "Bad Request\n");
  }
}

void HandleEnvoyHealth(const Routed& routed) {
  const bool serving = routed.at.settings.envoy->health.serving();
  routed.exchange.AnswerText(serving ? 200 : 500, kPlain, serving ? "OK" : "");
}

void HandleLimits(const Routed& routed) {
  std::string body;
  if (const auto configuration = routed.at.settings.envoy->rate_limits.configuration();
      configuration != nullptr) {
    for (const envoy::Limit* limit : configuration->limits()) {
      const auto word = [](bool truth) { return truth ? "true" : "false"; };
      body += limit->path;
      body += ": unit=";
      body += envoy::NameOf(limit->unit);
      body += " requests_per_unit=" + std::to_string(limit->requests_per_unit);
      body += std::string(", shadow_mode: ") + word(limit->shadow_mode);
      body += std::string(", quota_mode: ") + word(limit->quota_mode) + "\n";
    }
  }
  routed.exchange.AnswerText(200, kPlain, body);
}

void HandleStats(const Routed& routed) {
  std::string body;
  routed.at.settings.envoy->rate_limits.metrics().AppendStats(body);
  routed.exchange.AnswerText(200, kPlain, body);
}

void HandleDebugPaths(const Routed& routed) {
  routed.exchange.AnswerText(
      200, kPlain,
      "/metrics: metrics for Prometheus\n"
      "/rlconfig: print out the currently loaded configuration for debugging\n"
      "/rlreset: POST: reset the counters of a request's descriptors\n"
      "/rlusage: POST: what is left of the limits of a request's descriptors\n"
      "/stats: print out stats\n");
}

}  // namespace sluice::frontend::http
