#include "frontend/http/why_report.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "sluice/reason.h"

#include "service/rounding.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

namespace {

using NumbersOf = rules::RuleSet::Explanation::NumbersOf;

// `after` may be longer than an instant can be later.
std::int64_t UnixMilliseconds(WallInstant at, Duration after = {}) {
  constexpr service::Int128 kMillisecond = 1'000'000;
  return static_cast<std::int64_t>(service::CeilDivide(
      static_cast<service::Int128>(at.time_since_epoch().count()) + after.count(), kMillisecond));
}

// `name`_ms and `name_at`_ms: how long it takes from now on, and when that is over. Null where no
// time can be given.
void AppendWait(std::string_view name, std::string_view name_at, Duration wait, WallInstant now,
                wire::JsonWriter& json) {
  if (service::IsKnown(wait)) {
    json.Name(name).Number(service::CeilMilliseconds(wait));
    json.Name(name_at).Number(UnixMilliseconds(now, wait));
  } else {
    json.Name(name).Null();
    json.Name(name_at).Null();
  }
}

std::string TextOf(const Place& place) {
  return place.line > 0 ? place.file + ':' + std::to_string(place.line) : place.file;
}

std::string_view NameOf(NumbersOf whose) {
  switch (whose) {
    case NumbersOf::kPlan:
      return "plan";
    case NumbersOf::kOverride:
      return "override";
    case NumbersOf::kRule:
      break;
  }
  return "rule";
}

void AppendState(const Decision& decision, WallInstant now, wire::JsonWriter& json) {
  const bool unlimited = decision.limit == kUnlimited;
  json.Name("state").BeginObject();
  json.Name("allowed").Truth(decision.allowed);
  if (!decision.allowed) {
    json.Name("reason").Text(RowOf(decision.reason).name);
    AppendWait("retry_after_ms", "passes_at_ms", decision.retry_after, now, json);
  }
  if (unlimited) {
    json.Name("limit").Null().Name("used").Null().Name("remaining").Null();
  } else {
    json.Name("limit").Number(decision.limit);
    json.Name("used").Number(std::max<Units>(0, decision.limit - decision.remaining));
    json.Name("remaining").Number(decision.remaining);
    AppendWait("reset_after_ms", "reset_at_ms", decision.reset_after, now, json);
  }
  if (decision.wait.count() > 0) {
    json.Name("wait_ms").Number(service::CeilMilliseconds(decision.wait));
  }
  json.Name("degraded").Truth(decision.degraded);
  json.EndObject();
}

void AppendBan(const core::Ban& ban, const std::optional<store::BannedKey>& lasting,
               WallInstant now, wire::JsonWriter& json) {
  json.Name("ban").BeginObject();
  json.Name("after").Number(ban.after);
  json.Name("within_ms").Number(service::CeilMilliseconds(ban.within));
  json.Name("for_ms").Number(service::CeilMilliseconds(ban.lasts));
  json.Name("banned").Truth(lasting.has_value());
  if (lasting) {
    json.Name("since_ms").Number(UnixMilliseconds(lasting->since));
    json.Name("until_ms").Number(UnixMilliseconds(lasting->until));
    json.Name("left_ms").Number(service::CeilMilliseconds(lasting->until - now));
  }
  json.EndObject();
}

// What the rule's numbers are, and whose.
void AppendNumbers(const rules::RuleSet::Explanation& explained, wire::JsonWriter& json) {
  json.Name("algorithm").Text(core::NameOf(explained.quota.algorithm));
  json.Name("numbers").Text(rules::QuotaText(explained.quota));
  json.Name("numbers_from").Text(NameOf(explained.numbers_of));
  json.Name("numbers_place").Text(TextOf(explained.numbers_place));
  if (explained.numbers_of == NumbersOf::kPlan) {
    json.Name("plan").Text(explained.plan);
  }
  json.Name("cost").Number(explained.cost.units);
  json.Name("key").Text(explained.key);
}

void AppendRule(const WhyRule& part, WallInstant now, wire::JsonWriter& json) {
  const rules::RuleSet::Explanation& explained = part.explained;
  const rules::Rule& rule = *explained.rule;
  json.BeginObject();
  json.Name("rule_id").Text(rule.id);
  json.Name("applies").Truth(explained.applies);
  json.Name("mode").Text(rules::NameOf(part.mode));
  json.Name("configured_mode").Text(rules::NameOf(rule.mode));
  json.Name("source").Text(rule.source);
  json.Name("place").Text(TextOf(rule.place));
  json.Name("why").Text(explained.why);
  if (explained.applies && rule.action == rules::Action::kLimit) {
    AppendNumbers(explained, json);
    json.Name("sync").Text(core::NameOf(rule.sync));
    json.Name("on_store_error").Text(rules::NameOf(rule.on_store_error));
  }
  if (part.decision) {
    AppendState(*part.decision, now, json);
  }
  if (part.decision && rule.ban) {
    AppendBan(*rule.ban, part.ban, now, json);
  }
  if (part.remembered) {
    json.Name("remembered_denial").BeginObject();
    json.Name("left_ms").Number(service::CeilMilliseconds(part.remembered->retry_after));
    json.EndObject();
  }
  if (part.borrowed) {
    json.Name("lease").BeginObject();
    json.Name("held").Number(part.borrowed->held);
    json.Name("loops").Number(part.borrowed->loops);
    json.Name("denied_for_ms").Number(service::CeilMilliseconds(part.borrowed->denied_for));
    json.EndObject();
  }
  json.EndObject();
}

void AppendVerdict(const WhyReport& report, wire::JsonWriter& json) {
  const auto governing = std::ranges::find(
      report.rules, report.governing,
      [](const WhyRule& part) -> const std::string& { return part.explained.rule->id; });
  json.Name("verdict").BeginObject();
  json.Name("allowed").Truth(report.allowed);
  json.Name("status").Number(report.status);
  json.Name("kill_switch").Truth(report.kill_switch);
  if (!report.request_error.empty()) {
    json.Name("request_error").Text(report.request_error);
  }
  if (governing == report.rules.end() || !governing->decision) {
    json.Name("rule_id").Null();
  } else {
    json.Name("rule_id").Text(report.governing);
    if (!report.allowed) {
      const Decision& denial = *governing->decision;
      json.Name("reason").Text(RowOf(denial.reason).name);
      AppendWait("retry_after_ms", "passes_at_ms", denial.retry_after, report.now, json);
    }
  }
  if (report.allowed && report.wait.count() > 0) {
    json.Name("wait_ms").Number(service::CeilMilliseconds(report.wait));
  }
  json.EndObject();
}

void AppendStore(const WhyReport& report, wire::JsonWriter& json) {
  constexpr auto kMicroseconds = [](Duration duration) {
    return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  };
  json.Name("store").BeginObject();
  json.Name("shared").Truth(report.is_shared);
  json.Name("answered");
  if (report.asked) {
    json.Truth(report.answered);
  } else {
    json.Null();
  }
  if (report.clock) {
    json.Name("clock_offset_us").Number(kMicroseconds(report.clock->ahead));
    json.Name("clock_error_us").Number(kMicroseconds(report.clock->error) + 1);
  } else {
    json.Name("clock_offset_us").Null().Name("clock_error_us").Null();
  }
  json.EndObject();
}

}  // namespace

void AppendWhy(const WhyReport& report, std::string& body) {
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("now_ms").Number(UnixMilliseconds(report.now));
  AppendVerdict(report, json);
  AppendStore(report, json);
  json.Name("rules").BeginArray();
  for (const WhyRule& part : report.rules) {
    AppendRule(part, report.now, json);
  }
  json.EndArray().EndObject();
}

}  // namespace sluice::frontend::http
