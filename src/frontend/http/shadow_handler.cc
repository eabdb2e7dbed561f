#include "frontend/http/shadow_handler.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "service/service_metrics.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

namespace {

using service::Outcome;
using service::ShadowDenials;

void AppendRule(const AdminContext& context, const rules::Rule& rule,
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

}  // namespace

void HandleShadowReport(const AdminContext& context, Exchange& exchange) {
  const auto set = context.rules.rules();
  const std::vector<ShadowDenials::Key> keys = context.metrics.shadow_denials().Keys();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("since").Number(std::chrono::system_clock::to_time_t(context.metrics.since()));
  json.Name("rules").BeginArray();
  for (const rules::Rule& rule : set->rules()) {
    AppendRule(context, rule, keys, json);
  }
  json.EndArray().EndObject();
  exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
