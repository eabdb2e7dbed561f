#include "frontend/http/explain_handler.h"

#include <optional>
#include <string>

#include "core/quota.h"
#include "frontend/http/problem.h"
#include "frontend/http/status_handler.h"
#include "rules/quota_text.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

namespace {

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

void HandleExplain(const wire::HttpRequest& request, const AdminContext& context,
                   Exchange& exchange) {
  if (!ReadStatusQuery(request, std::nullopt, exchange)) {
    return;
  }
  const rules::ModeOverrides& modes = context.modes.modes();
  const auto set = context.rules.rules();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("kill_switch").Truth(modes.all.has_value());
  json.Name("rules").BeginArray();
  for (const auto& each : set->Explain(exchange.attributes, exchange.cost, modes)) {
    AppendExplanation(context, each, json);
  }
  json.EndArray().EndObject();
  exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
