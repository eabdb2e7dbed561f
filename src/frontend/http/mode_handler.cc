#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/handlers.h"
#include "rules/spelling.h"
#include "service/active_rules.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

constexpr std::string_view kJson = "application/json";

void AnswerBadBody(std::string_view detail, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = "invalid_body"});
}

// The only member of the body, which must have this name; none, and answered, if it is anything
// else.
std::optional<wire::JsonMember> OnlyMember(wire::ScalarObject& object, std::string_view body,
                                           std::string_view name, std::string_view expected,
                                           Exchange& exchange) {
  if (const auto read = object.Read(body); !read) {
    exchange.AnswerProblem(ProblemOf(read.error()));
    return std::nullopt;
  }
  if (object.members().size() != 1 || object.members().front().name != name) {
    AnswerBadBody(expected, exchange);
    return std::nullopt;
  }
  return object.members().front();
}

std::optional<rules::Mode> ModeNamed(std::string_view name) {
  for (const rules::Mode mode : {rules::Mode::kEnforce, rules::Mode::kShadow, rules::Mode::kOff}) {
    if (rules::NameOf(mode) == name) {
      return mode;
    }
  }
  return std::nullopt;
}

bool Kept(const control::ChangeResult<void>& set, Exchange& exchange) {
  if (!set) {
    exchange.AnswerProblem(ProblemOf(set.error()));
  }
  return set.has_value();
}

void AnswerMode(const rules::Rule& rule, const AdminContext& context, Exchange& exchange) {
  const rules::ModeOverrides& modes = context.modes.modes();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("rule_id").Text(rule.id);
  json.Name("mode").Text(rules::NameOf(modes.Effective(rule)));
  json.Name("configured_mode").Text(rules::NameOf(rule.mode));
  json.Name("set").Truth(modes.by_rule.contains(rule.id));
  json.Name("kill_switch").Truth(modes.all.has_value());
  json.Name("scope").Text("node");
  json.EndObject();
  exchange.AnswerText(200, kJson, body);
}

// "there is no rule logn, did you mean login?".
std::string NoSuchRuleAmong(const rules::RuleSet& set, std::string_view id) {
  std::vector<std::string_view> known;
  for (const rules::Rule& rule : set.rules()) {
    known.emplace_back(rule.id);
  }
  return service::NoSuchRule(id) + rules::KnownOnes(id, known);
}

}  // namespace

void HandleMode(const Routed& routed) {
  const wire::HttpRequest& request = routed.request;
  const std::string_view id = routed.tail;
  const AdminContext& context = *routed.at.settings.context;
  Exchange& exchange = routed.exchange;
  const auto set = context.rules.rules();
  const rules::Rule* const rule = set->Find(id);
  if (rule == nullptr) {
    const control::ChangeError error{
        .code = control::ErrorCode::kNotFound, .detail = NoSuchRuleAmong(*set, id), .errors = {}};
    exchange.AnswerProblem(ProblemOf(error));
    return;
  }
  if (request.method == wire::HttpMethod::kPut) {
    constexpr std::string_view kExpected = R"(the body is {"mode": "enforce", "shadow" or "off"})";
    wire::ScalarObject object("");
    const auto member = OnlyMember(object, request.body, "mode", kExpected, exchange);
    if (!member) {
      return;
    }
    const auto mode = ModeNamed(member->text);
    if (!mode || member->kind != wire::ScalarKind::kText) {
      AnswerBadBody(kExpected, exchange);
      return;
    }
    if (!Kept(context.modes.SetMode(id, mode), exchange)) {
      return;
    }
  } else if (request.method == wire::HttpMethod::kDelete &&
             !Kept(context.modes.SetMode(id, std::nullopt), exchange)) {
    return;
  }
  AnswerMode(*rule, context, exchange);
}

void HandleKillSwitch(const Routed& routed) {
  const wire::HttpRequest& request = routed.request;
  const AdminContext& context = *routed.at.settings.context;
  Exchange& exchange = routed.exchange;
  if (request.method == wire::HttpMethod::kPut) {
    constexpr std::string_view kExpected = R"(the body is {"on": true} or {"on": false})";
    wire::ScalarObject object("");
    const auto member = OnlyMember(object, request.body, "on", kExpected, exchange);
    if (!member) {
      return;
    }
    if (member->kind != wire::ScalarKind::kBoolean) {
      AnswerBadBody(kExpected, exchange);
      return;
    }
    if (!Kept(context.modes.SetKillSwitch(member->text == "true"), exchange)) {
      return;
    }
  }
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("on").Truth(context.modes.modes().all.has_value());
  json.Name("scope").Text("node");
  json.EndObject();
  exchange.AnswerText(200, kJson, body);
}

}  // namespace sluice::frontend::http
