#include <fmt/format.h>

#include "time_text.h"
#include "why_text.h"

// The verdict in one sentence.
namespace sluice::app {

namespace {

namespace json = boost::json;

// "150 of 150 used", "5 of 5 slots taken".
std::string UsedText(const JsonAnswer& rule) {
  const JsonAnswer state = rule.Part("state");
  const std::string_view what = rule.Text("algorithm") == "concurrency" ? "slots taken" : "used";
  return fmt::format("{} of {} {}", state.Number("used"), state.Number("limit"), what);
}

// "; passes in 12.3 s (at 14:03:12.512 UTC)"; "" where no time can be given.
std::string PassesText(const JsonAnswer& denial, std::int64_t now) {
  const auto wait = denial.NumberIfAny("retry_after_ms");
  const auto at = denial.NumberIfAny("passes_at_ms");
  return wait && at ? fmt::format("; passes in {} (at {})", WaitText(*wait), ClockText(*at, now))
                    : "";
}

// Why the rule allows, behind its name.
std::string AllowanceText(const JsonAnswer& rule) {
  const JsonAnswer state = rule.Part("state");
  if (state.Truth("degraded")) {
    return rule.Text("on_store_error") == "local"
               ? "decided by this node's share of the limit, without the store"
               : "not counted, for the store does not answer or is full";
  }
  if (!rule.Has("algorithm")) {
    return rule.Text("why");
  }
  return state.NumberIfAny("limit")
             ? fmt::format("{} of {} left", state.Number("remaining"), state.Number("limit"))
             : "no limit for this key";
}

// The rule of that id; an object without members if it is not there.
JsonAnswer RuleOf(const JsonAnswer& answer, std::string_view id) {
  static const json::value none;
  for (const json::value& rule : answer.List("rules")) {
    if (JsonAnswer(rule).Text("rule_id") == id) {
      return JsonAnswer(rule);
    }
  }
  return JsonAnswer(none);
}

}  // namespace

std::string DenialText(const JsonAnswer& rule, std::int64_t now) {
  const JsonAnswer state = rule.Part("state");
  const std::string reason = state.Text("reason");
  const std::int64_t cost = rule.Number("cost");
  const std::string passes = PassesText(state, now);
  if (reason == "quota_exceeded") {
    return UsedText(rule) + (cost == 1 ? "" : fmt::format(", and the cost is {}", cost)) +
           (rule.Has("remembered_denial") && state.Truth("degraded")
                ? ", as the store said before it was away"
                : "") +
           passes;
  }
  if (reason == "cost_exceeds_capacity") {
    return fmt::format("the cost of {} is above the limit of {}, so it can never pass", cost,
                       state.Number("limit"));
  }
  if (reason == "limit_zero") {
    return "its limit is 0, so nothing can pass";
  }
  if (reason == "in_flight") {
    return UsedText(rule) + "; passes when a hold is released or expires";
  }
  if (reason == "reserved") {
    return "the slots that are left are reserved for another priority";
  }
  if (reason == "banned") {
    const JsonAnswer ban = rule.Part("ban");
    return ban.Has("since_ms")
               ? fmt::format("the key is banned since {}, after {} denials within {}{}",
                             ClockText(ban.Number("since_ms"), now), ban.Number("after"),
                             WaitText(ban.Number("within_ms")), passes)
               : "the key is banned" + passes;
  }
  if (reason == "store_unavailable") {
    return "the store does not answer, and its on_store_error is deny";
  }
  if (reason == "store_full") {
    return "the table is full, and table.when_full is deny";
  }
  if (reason == "deny_listed" || reason == "attribute_missing") {
    return rule.Text("why");
  }
  return reason + passes;
}

std::string WhySentence(const JsonAnswer& answer) {
  const JsonAnswer verdict = answer.Part("verdict");
  const std::int64_t now = answer.Number("now_ms");
  if (verdict.Has("request_error")) {
    return "refused, for the request is wrong: " + verdict.Text("request_error");
  }
  if (verdict.Truth("kill_switch")) {
    return "allowed: the kill switch is on, so no rule is judged and nothing is counted";
  }
  const std::string id = verdict.Text("rule_id");
  const JsonAnswer rule = RuleOf(answer, id);
  if (!verdict.Truth("allowed")) {
    return fmt::format("denied by {}: {}", id, DenialText(rule, now));
  }
  if (id.empty()) {
    return "allowed: no enforced rule applies to this request";
  }
  const auto wait = verdict.NumberIfAny("wait_ms");
  return fmt::format("allowed{} by {}: {}", wait ? " after " + WaitText(*wait) : "", id,
                     AllowanceText(rule));
}

}  // namespace sluice::app
