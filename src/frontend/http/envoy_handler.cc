#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "envoy/rate_limit_call.h"
#include "envoy/usage_call.h"
#include "frontend/http/handlers.h"
#include "service/rounding.h"
#include "wire/json_writer.h"
#include "wire/rls_request.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

// One request of /json, from its body to its answer. The exchange owns it.
class RateLimitTask final : public Task, private service::CompletionOf<envoy::RateLimitCall> {
 public:
  RateLimitTask(Exchange& exchange, envoy::RateLimitService& service)
      : exchange_(exchange), service_(service) {
    (void)exchange_.operation.request_id.View();  // Now, so that both have the same one.
    call_.request_id = exchange_.operation.request_id;
    call_.trace = exchange_.operation.trace;
    call_.listener = exchange_.operation.listener;
  }

  [[nodiscard]] bool Read(std::string_view body) {
    call_.request = &request_;
    return json_.Read(body, request_);
  }

  void Start() override {
    envoy::ConfigurationPin pin(service_);
    envoy::RateLimitCall* const one = &call_;
    service_.Decide({&one, 1}, pin);
  }

 private:
  void OnCompleted(envoy::RateLimitCall& /*call*/) noexcept override {
    if (call_.failure != envoy::RateLimitCall::Failure::kNone) {
      exchange_.AnswerText(400, kPlain, "Bad Request\n");
    } else {
      std::string body;
      call_.response.AppendJson(body);
      const bool over = call_.response.overall_code == wire::RlsCode::kOverLimit;
      exchange_.AnswerText(over ? 429 : 200, "application/json", body);
    }
    exchange_.OnTaskDone();
  }

  Exchange& exchange_;
  envoy::RateLimitService& service_;
  wire::RlsJson json_;
  wire::RlsRequest request_;
  envoy::RateLimitCall call_{*this};
};

int StatusOf(envoy::UsageCall::Failure failure) {
  switch (failure) {
    case envoy::UsageCall::Failure::kNone:
      return 200;
    case envoy::UsageCall::Failure::kBadRequest:
      return 400;
    case envoy::UsageCall::Failure::kNoDomain:
      return 404;
    case envoy::UsageCall::Failure::kNoConfiguration:
    case envoy::UsageCall::Failure::kStore:
      break;
  }
  return 503;
}

void AppendWait(wire::JsonWriter& json, std::string_view name, Duration wait) {
  if (service::IsKnown(wait)) {
    json.Name(name).Number(service::CeilMilliseconds(wait));
  } else {
    json.Name(name).Null();
  }
}

void AppendUse(wire::JsonWriter& json, const envoy::UsageCall::Use& use) {
  const envoy::Limit& limit = *use.limit;
  json.BeginObject();
  json.Name("descriptor").Number(static_cast<std::int64_t>(use.descriptor));
  json.Name("path").Text(limit.path);
  if (!limit.name.empty()) {
    json.Name("name").Text(limit.name);
  }
  json.Name("unit").Text(envoy::NameOf(limit.unit));
  json.Name("requests_per_unit").Number(std::int64_t{limit.requests_per_unit});
  json.Name("limit").Number(use.decision.limit);
  json.Name("remaining").Number(use.decision.remaining);
  json.Name("allowed").Truth(use.decision.allowed);
  AppendWait(json, "retry_after_ms", use.decision.retry_after);
  AppendWait(json, "reset_after_ms", use.decision.reset_after);
  json.EndObject();
}

// From its body to its answer. The exchange owns it.
class UsageTask final : public Task, private service::CompletionOf<envoy::UsageCall> {
 public:
  UsageTask(Exchange& exchange, envoy::RateLimitService& service, bool is_reset)
      : exchange_(exchange), service_(service) {
    call_.reset = is_reset;
  }

  // False, and answered, if the body is invalid.
  [[nodiscard]] bool Read(std::string_view body) {
    call_.request = &request_;
    if (json_.Read(body, request_)) {
      return true;
    }
    exchange_.AnswerProblem(
        {.status = 400, .title = {}, .detail = json_.error(), .code = "invalid_request"});
    return false;
  }

  void Start() override { call_.Start(service_); }

 private:
  void OnCompleted(envoy::UsageCall& /*call*/) noexcept override {
    if (call_.failure != envoy::UsageCall::Failure::kNone) {
      exchange_.AnswerProblem({.status = StatusOf(call_.failure),
                               .title = {},
                               .detail = call_.failure_text,
                               .code = {}});
    } else {
      std::string body;
      wire::JsonWriter json(body);
      json.BeginObject();
      if (call_.reset) {
        json.Name("keys").Number(static_cast<std::int64_t>(call_.uses.size()));
        json.Name("complete").Truth(true);
      } else {
        json.Name("limits").BeginArray();
        for (const envoy::UsageCall::Use& use : call_.uses) {
          AppendUse(json, use);
        }
        json.EndArray();
      }
      json.EndObject();
      exchange_.AnswerText(200, "application/json", body);
    }
    exchange_.OnTaskDone();
  }

  Exchange& exchange_;
  envoy::RateLimitService& service_;
  wire::RlsJson json_;
  wire::RlsRequest request_;
  envoy::UsageCall call_{*this};
};

void HandleUsage(const Routed& routed, bool reset) {
  auto task =
      std::make_unique<UsageTask>(routed.exchange, routed.at.settings.envoy->rate_limits, reset);
  if (task->Read(routed.request.body)) {
    routed.exchange.Run(std::move(task));
  }
}

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

void HandleEnvoyUsage(const Routed& routed) {
  HandleUsage(routed, /*reset=*/false);
}

void HandleEnvoyReset(const Routed& routed) {
  HandleUsage(routed, /*reset=*/true);
}

}  // namespace sluice::frontend::http
