#include "records/decision_json.h"

#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "sluice/reason.h"

#include "wire/json_writer.h"

namespace sluice::records {

namespace {

using insight::KeptDecision;
using insight::KeptRequest;
using wire::JsonWriter;

void AppendUnits(JsonWriter& json, std::string_view name, Units units) {
  json.Name(name);
  if (units == kUnlimited) {
    json.Null();
  } else {
    json.Number(units);
  }
}

// Rounded up, so that who waits so long has waited enough.
void AppendWait(JsonWriter& json, std::string_view name, Duration wait) {
  json.Name(name);
  if (wait >= Decision::kUnknown) {
    json.Null();
  } else {
    json.Number(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
  }
}

void AppendIf(JsonWriter& json, std::string_view name, bool holds) {
  if (holds) {
    json.Name(name).Truth(true);
  }
}

void AppendOne(JsonWriter& json, const KeptDecision& kept) {
  const Decision& decision = kept.decision;
  json.BeginObject();
  json.Name("rule").Text(kept.rule);
  json.Name("key").BeginObject();
  for (const core::KeyPart& part : kept.parts) {
    json.EscapedName(part.attribute).Text(part.value);
  }
  json.EndObject();
  json.Name("outcome").Text(insight::NameOf(kept.outcome));
  AppendUnits(json, "limit", decision.limit);
  AppendUnits(json, "remaining", decision.remaining);
  json.Name("cost").Number(kept.cost.units);
  json.Name("charged").Truth(kept.charged);
  if (!decision.allowed) {
    json.Name("reason").Text(RowOf(decision.reason).name);
    AppendWait(json, "retry_after_ms", decision.retry_after);
  }
  AppendWait(json, "reset_after_ms", decision.reset_after);
  AppendIf(json, "shadow", decision.shadow);
  AppendIf(json, "degraded", decision.degraded);
  AppendIf(json, "banned", decision.reason == Reason::kBanned);
  AppendIf(json, "lease", kept.lease);
  json.EndObject();
}

}  // namespace

std::string TimeText(WallInstant at) {
  const Duration since = at.time_since_epoch();
  const auto day = std::chrono::floor<std::chrono::days>(since);
  const std::chrono::year_month_day date{std::chrono::sys_days(day)};
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(since - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     (since % std::chrono::seconds(1)).count());
}

void AppendDecision(const KeptRequest& request, std::string& out) {
  JsonWriter json(out);
  json.BeginObject();
  json.Name("time").Text(TimeText(request.at));
  json.Name("request_id").Text(request.request_id);
  if (!request.trace_id.empty()) {
    json.Name("trace_id").Text(request.trace_id);
  }
  json.Name("listener").Text(request.listener);
  json.Name("judged_by").Text(insight::NameOf(request.judged_by));
  json.Name("allowed").Truth(request.allowed);
  json.Name("cost").Number(request.cost.units);
  if (!request.attributes.empty()) {
    json.Name("attributes").BeginObject();
    for (const Attribute& attribute : request.attributes) {
      json.EscapedName(attribute.name).Text(attribute.value);
    }
    json.EndObject();
  }
  json.Name("decisions").BeginArray();
  for (const KeptDecision& decision : request.decisions) {
    AppendOne(json, decision);
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace sluice::records
