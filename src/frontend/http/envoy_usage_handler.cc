#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "envoy/usage_call.h"
#include "frontend/http/handlers.h"
#include "service/rounding.h"
#include "wire/json_writer.h"
#include "wire/rls_json.h"
#include "wire/rls_request.h"

namespace sluice::frontend::http {

namespace {

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
class UsageTask final : public Task, private envoy::UsageCall {
 public:
  UsageTask(Exchange& exchange, envoy::RateLimitService& service, bool is_reset)
      : exchange_(exchange), service_(service) {
    reset = is_reset;
  }

  // False, answered, if the body is none.
  [[nodiscard]] bool Read(std::string_view body) {
    request = &request_;
    if (json_.Read(body, request_)) {
      return true;
    }
    exchange_.AnswerProblem(
        {.status = 400, .title = {}, .detail = json_.error(), .code = "invalid_request"});
    return false;
  }

  void Start() override { UsageCall::Start(service_); }

 private:
  void OnDone() noexcept override {
    if (failure != Failure::kNone) {
      exchange_.AnswerProblem(
          {.status = StatusOf(failure), .title = {}, .detail = failure_text, .code = {}});
    } else {
      std::string body;
      wire::JsonWriter json(body);
      json.BeginObject();
      if (reset) {
        json.Name("keys").Number(static_cast<std::int64_t>(uses.size()));
        json.Name("complete").Truth(true);
      } else {
        json.Name("limits").BeginArray();
        for (const Use& use : uses) {
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
};

void HandleUsage(const Routed& routed, bool reset) {
  auto task =
      std::make_unique<UsageTask>(routed.exchange, routed.at.settings.envoy->rate_limits, reset);
  if (task->Read(routed.request.body)) {
    routed.exchange.Run(std::move(task));
  }
}

}  // namespace

void HandleEnvoyUsage(const Routed& routed) {
  HandleUsage(routed, /*reset=*/false);
}

void HandleEnvoyReset(const Routed& routed) {
  HandleUsage(routed, /*reset=*/true);
}

}  // namespace sluice::frontend::http
