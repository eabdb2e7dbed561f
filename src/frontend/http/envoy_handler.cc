#include "frontend/http/envoy_handler.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "envoy/rate_limit_call.h"
#include "frontend/http/operation.h"
#include "wire/rls_json.h"
#include "wire/rls_request.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

// One request of /json, from its body to its answer. The exchange owns it.
class RateLimitOperation final : public Operation, private envoy::RateLimitCall {
 public:
  RateLimitOperation(Exchange& exchange, envoy::RateLimitService& service)
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
    exchange_.OnOperationDone();
  }

  Exchange& exchange_;
  envoy::RateLimitService& service_;
  wire::RlsJson json_;
  wire::RlsRequest request_;
};

}  // namespace

void HandleRateLimitJson(const wire::HttpRequest& request, const EnvoyContext& context,
                         Exchange& exchange) {
  auto operation = std::make_unique<RateLimitOperation>(exchange, context.rate_limits);
  if (operation->Read(request.body)) {
    exchange.Send(std::move(operation));
  } else {
    exchange.AnswerText(400, kPlain, "Bad Request\n");
  }
}

void HandleEnvoyHealth(const EnvoyContext& context, Exchange& exchange) {
  const bool serving = context.health.serving();
  exchange.AnswerText(serving ? 200 : 500, kPlain, serving ? "OK" : "");
}

void HandleLimits(const EnvoyContext& context, Exchange& exchange) {
  std::string body;
  if (const auto configuration = context.rate_limits.configuration(); configuration != nullptr) {
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
  exchange.AnswerText(200, kPlain, body);
}

void HandleStats(const EnvoyContext& context, Exchange& exchange) {
  std::string body;
  context.rate_limits.metrics().AppendStats(body);
  exchange.AnswerText(200, kPlain, body);
}

void HandleDebugPaths(const EnvoyContext& /*context*/, Exchange& exchange) {
  exchange.AnswerText(200, kPlain,
                      "/metrics: metrics for Prometheus\n"
                      "/rlconfig: print out the currently loaded configuration for debugging\n"
                      "/rlreset: POST: reset the counters of a request's descriptors\n"
                      "/rlusage: POST: what is left of the limits of a request's descriptors\n"
                      "/stats: print out stats\n");
}

}  // namespace sluice::frontend::http
