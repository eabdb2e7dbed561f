#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/quota.h"
#include "frontend/http/handlers.h"
#include "rules/rule.h"
#include "service/service_metrics.h"
#include "wire/json_writer.h"

// What operators read about rules: why they apply to a request, and which keys shadow rules would
// deny.
namespace sluice::frontend::http {

namespace {

using service::Outcome;
using service::ShadowDenials;

void AppendShadowed(const AdminContext& context, const rules::Rule& rule,
                    const std::vector<ShadowDenials::Key>& keys, wire::JsonWriter& json) {
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
  for (const ShadowDenials::Key& key : keys) {
    if (key.rule != rule.id) {
      continue;
    }
    json.BeginObject();
    json.Name("key").Text(key.text);
    json.Name("would_deny").Number(static_cast<std::int64_t>(key.denied));
    json.Name("newly_denied").Number(static_cast<std::int64_t>(key.newly_denied));
    if (key.overcount != 0) {
      json.Name("at_least").Number(static_cast<std::int64_t>(key.denied - key.overcount));
    }
    json.EndObject();
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
  const std::vector<ShadowDenials::Key> keys = context.metrics.shadow_denials().Keys();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("since").Number(std::chrono::system_clock::to_time_t(context.metrics.since()));
  json.Name("rules").BeginArray();
  for (const rules::Rule& rule : set->rules()) {
    AppendShadowed(context, rule, keys, json);
  }
  json.EndArray().EndObject();
  routed.exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
