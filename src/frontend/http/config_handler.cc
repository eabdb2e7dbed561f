#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "frontend/http/handlers.h"
#include "rules/rule.h"
#include "service/active_rules.h"
#include "wire/http1_response.h"
#include "wire/http_request.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kRuleType = "application/json";

// `tag` is "" for an unknown rule.
bool PreconditionHolds(const wire::HttpRequest& request, std::string_view tag, Exchange& exchange) {
  std::string_view broken;
  if (request.HasField("If-Match") &&
      !wire::NamesEntity(request, "If-Match", tag, wire::TagComparison::kStrong)) {
    broken = "this rule has changed since the version in If-Match: read it again";
  } else if (wire::NamesEntity(request, "If-None-Match", tag, wire::TagComparison::kWeak)) {
    broken = "this rule exists already";
  } else {
    return true;
  }
  exchange.AnswerProblem({.status = 412, .title = {}, .detail = broken, .code = "changed"});
  if (!tag.empty()) {
    exchange.response.Add("ETag", tag);
  }
  return false;
}

std::string_view StatusOf(rules::Mode mode) {
  return mode == rules::Mode::kEnforce ? "active" : rules::NameOf(mode);
}

void AppendSummary(const AdminContext& context, const rules::Rule& rule, wire::JsonWriter& json) {
  const rules::Mode mode = context.modes.modes().Effective(rule);
  json.Name("rule_id").Text(rule.id);
  json.Name("status").Text(StatusOf(mode));
  json.Name("mode").Text(rules::NameOf(mode));
  json.Name("configured_mode").Text(rules::NameOf(rule.mode));
  json.Name("source").Text(rule.source);
  json.Name("scope").Text(control::NameOf(control::ScopeOf(rule)));
  if (rule.action != rules::Action::kLimit) {
    json.Name("action").Text(rule.action == rules::Action::kAllow ? "allow" : "deny");
    return;
  }
  json.Name("algorithm").Text(core::NameOf(rule.quota.algorithm));
  json.Name("key_pattern").Text(rule.key_pattern);
}

void AnswerRule(int status, const AdminContext& context, const rules::Rule& rule,
                std::string_view text, Exchange& exchange) {
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  AppendSummary(context, rule, json);
  json.Name("rule").Raw(text);
  json.EndObject();
  exchange.AnswerText(status, kRuleType, body);
  exchange.response.Add("ETag", EntityTag(text));
}

void AnswerNoSuchRule(std::string_view id, Exchange& exchange) {
  const control::ChangeError error{
      .code = control::ErrorCode::kNotFound, .detail = service::NoSuchRule(id), .errors = {}};
  exchange.AnswerProblem(ProblemOf(error));
}

void AnswerRefusal(const control::ChangeError& refusal, Exchange& exchange) {
  const Problem problem = ProblemOf(refusal);
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  wire::AppendProblemMembers(json, {.title = wire::StatusPhrase(problem.status),
                                    .status = problem.status,
                                    .detail = problem.detail,
                                    .code = problem.code});
  json.Name("errors").BeginArray();
  for (const Error& error : refusal.errors) {
    json.BeginObject().Name("message").Text(error.message);
    if (!error.place.file.empty()) {
      json.Name("source").Text(error.place.file);
    }
    if (error.place.line > 0) {
      json.Name("line").Number(error.place.line).Name("column").Number(error.place.column);
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  exchange.AnswerText(problem.status, kProblemType, body);
}

void AnswerDeleted(std::string_view id, control::Scope scope, const AdminContext& context,
                   Exchange& exchange) {
  // Another source's rule of the same id is active again.
  const auto set = context.rules.rules();
  const rules::Rule* const left = set->Find(id);
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("rule_id").Text(id);
  json.Name("status").Text("deleted");
  json.Name("scope").Text(control::NameOf(scope));
  if (left != nullptr) {
    json.Name("in_force").Text(left->source);
  }
  json.EndObject();
  exchange.AnswerText(200, kRuleType, body);
}

// A change of one rule, done when its store has it.
class RuleChange final : public Task {
 public:
  // No `body`: the rule is deleted.
  RuleChange(const AdminContext& context, std::string_view id, std::optional<std::string_view> body,
             Exchange& exchange)
      : context_(context), id_(id), body_(body), exchange_(exchange) {}

  void Start() override {
    auto done = [this](const control::ChangeResult<control::Scope>& result) { OnDone(result); };
    if (body_) {
      context_.rules.Put(id_, *body_, std::move(done));
    } else {
      context_.rules.Delete(id_, std::move(done));
    }
  }

 private:
  void OnDone(const control::ChangeResult<control::Scope>& result) {
    if (!result) {
      AnswerRefusal(result.error(), exchange_);
    } else if (!body_) {
      AnswerDeleted(id_, *result, context_, exchange_);
    } else if (const auto set = context_.rules.rules(); const auto* const rule = set->Find(id_)) {
      AnswerRule(200, context_, *rule, context_.rules.TextOf(*rule), exchange_);
    } else {
      AnswerNoSuchRule(id_, exchange_);  // It was deleted meanwhile.
    }
    exchange_.OnTaskDone();
  }

  const AdminContext& context_;
  const std::string id_;
  const std::optional<std::string_view> body_;  // Valid during Start().
  Exchange& exchange_;
};

}  // namespace

void HandleRules(const Routed& routed) {
  const AdminContext& context = *routed.at.settings.context;
  const auto set = context.rules.rules();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("kill_switch").Truth(context.modes.modes().all.has_value());
  json.Name("rules").BeginArray();
  for (const rules::Rule& rule : set->rules()) {
    json.BeginObject();
    AppendSummary(context, rule, json);
    json.EndObject();
  }
  json.EndArray().EndObject();
  routed.exchange.AnswerText(200, kRuleType, body);
}

void HandleRule(const Routed& routed) {
  const wire::HttpRequest& request = routed.request;
  const std::string_view id = routed.tail;
  const AdminContext& context = *routed.at.settings.context;
  Exchange& exchange = routed.exchange;
  const bool reads =
      request.method == wire::HttpMethod::kGet || request.method == wire::HttpMethod::kHead;
  if (!reads) {
    context.rules.CatchUp();
  }
  const auto set = context.rules.rules();
  const rules::Rule* const rule = set->Find(id);
  const std::string text = rule == nullptr ? "" : context.rules.TextOf(*rule);
  const std::string tag = rule == nullptr ? "" : EntityTag(text);
  if (reads && rule != nullptr &&
      wire::NamesEntity(request, "If-None-Match", tag, wire::TagComparison::kWeak)) {
    exchange.AnswerText(304, kRuleType, "");
    exchange.response.Add("ETag", tag);
    return;
  }
  if (reads) {
    if (rule == nullptr) {
      AnswerNoSuchRule(id, exchange);
    } else {
      AnswerRule(200, context, *rule, text, exchange);
    }
  } else if (PreconditionHolds(request, tag, exchange)) {
    const bool put = request.method == wire::HttpMethod::kPut;
    exchange.Run(std::make_unique<RuleChange>(
        context, id, put ? std::optional(request.body) : std::nullopt, exchange));
  }
}

}  // namespace sluice::frontend::http
