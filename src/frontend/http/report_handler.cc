#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/quota.h"
#include "frontend/http/handlers.h"
#include "insight/insight.h"
#include "insight/key_text.h"
#include "rules/rule.h"
#include "service/service_metrics.h"
#include "wire/json_writer.h"

// What operators read about rules: why they apply to a request, and which keys shadow rules would
// deny.
namespace sluice::frontend::http {

namespace {

using service::Outcome;

void AppendShadowedKey(const insight::HeavyKey& key, wire::JsonWriter& json) {
  json.BeginObject();
  json.Name("key").Text(insight::TextOf(insight::PartsOf(key.key)));
  json.Name("would_deny").Number(static_cast<std::int64_t>(key.count));
  json.Name("newly_denied").Number(static_cast<std::int64_t>(key.newly_denied));
  if (key.AtLeast() != key.count) {
    json.Name("at_least").Number(static_cast<std::int64_t>(key.AtLeast()));
  }
  json.EndObject();
}

void AppendShadowed(const AdminContext& context, const rules::Rule& rule,
                    std::span<const insight::RuleTop> tops, wire::JsonWriter& json) {
  const auto count = [&](Outcome outcome) {
    return static_cast<std::int64_t>(context.metrics.Count(rule.id, outcome));
  };
  const std::int64_t denied = count(Outcome::kShadowDenied);
  const rules::Mode mode = context.modes.modes().Effective(rule);
  if (mode != rules::Mode::kShadow && denied == 0) {
    return;
  }
  json.BeginObject();
  json.Name("rule_id").Text(rule.id);
  json.Name("mode").Text(rules::NameOf(mode));
  json.Name("would_allow").Number(count(Outcome::kShadowAllowed));
  json.Name("would_deny").Number(denied);
  json.Name("newly_denied").Number(static_cast<std::int64_t>(context.metrics.NewlyDenied(rule.id)));
  json.Name("keys").BeginArray();
  const auto top = std::ranges::find(tops, rule.id, &insight::RuleTop::rule);
  if (top != tops.end()) {
    for (const insight::RuleTop::Key& key : top->keys) {
      AppendShadowedKey(key.counted, json);
    }
  }
  json.EndArray().EndObject();
}

void AppendExplanation(const AdminContext& context, const rules::RuleSet::Explanation& explanation,
                       wire::JsonWriter& json) {
  const rules::Rule& rule = *explanation.rule;
  json.BeginObject();
  json.Name("rule_id").Text(rule.id);
  json.Name("applies").Truth(explanation.applies);
  json.Name("mode").Text(rules::NameOf(context.modes.modes().Effective(rule)));
  json.Name("configured_mode").Text(rules::NameOf(rule.mode));
  json.Name("source").Text(rule.source);
  json.Name("why").Text(explanation.why);
  if (explanation.applies && rule.action == rules::Action::kLimit) {
    json.Name("algorithm").Text(core::NameOf(explanation.quota.algorithm));
    json.Name("numbers").Text(rules::QuotaText(explanation.quota));
    json.Name("cost").Number(explanation.cost.units);
    json.Name("key").Text(explanation.key);
  }
  json.EndObject();
}

}  // namespace

void HandleExplain(const Routed& routed) {
  if (!ReadStatusQuery(routed)) {
    return;
  }
  const AdminContext& context = *routed.at.settings.context;
  const auto& check = routed.exchange.operation.Get<service::RuleCheck>();
  const rules::ModeOverrides& modes = context.modes.modes();
  const auto set = context.rules.rules();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("kill_switch").Truth(modes.all.has_value());
  json.Name("rules").BeginArray();
  for (const auto& each : set->Explain(check.attributes, check.cost, modes)) {
    AppendExplanation(context, each, json);
  }
  json.EndArray().EndObject();
  routed.exchange.AnswerText(200, "application/json", body);
}

void HandleShadowReport(const Routed& routed) {
  const AdminContext& context = *routed.at.settings.context;
  const auto set = context.rules.rules();
  const insight::Insight::TopReading top =
      context.insight.Top({.kind = static_cast<std::size_t>(insight::Kind::kShadow),
                           .window = insight::Window::kStart,
                           .most = insight::TopKeys::kMostRoom});
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("since").Number(std::chrono::system_clock::to_time_t(context.metrics.since()));
  json.Name("rules").BeginArray();
  for (const rules::Rule& rule : set->rules()) {
    AppendShadowed(context, rule, top.rules, json);
  }
  json.EndArray().EndObject();
  routed.exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
