#include "frontend/http/answer.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sluice/reason.h"

#include "frontend/http/numbers.h"
#include "rules/rule.h"

namespace sluice::frontend::http {

namespace {

void AppendOrNull(std::string_view member, std::optional<std::int64_t> value, std::string& out) {
  out += member;
  if (value) {
    AppendNumber(out, *value);
  } else {
    out += "null";
  }
}

std::optional<std::int64_t> Counted(Units units) {
  return units == kUnlimited ? std::nullopt : std::optional<std::int64_t>(units);
}

std::optional<std::int64_t> Milliseconds(Duration wait) {
  return IsKnown(wait) ? std::optional(CeilMilliseconds(wait)) : std::nullopt;
}

void AppendLimit(const service::RuleDecision& item, WallInstant now, std::string& out) {
  const Decision& decision = item.decision;
  out += "{\"name\": \"";
  out += item.rule->id;  // [A-Za-z0-9._-]: nothing to escape.
  out += decision.allowed ? "\", \"allowed\": true" : "\", \"allowed\": false";
  AppendOrNull(", \"limit\": ", Counted(decision.limit), out);
  AppendOrNull(", \"remaining\": ",
               decision.limit == kUnlimited ? std::nullopt : Counted(decision.remaining), out);
  AppendOrNull(", \"reset_at\": ", ResetAt(now, decision), out);
  if (!decision.allowed) {
    out += ", \"reason\": \"";
    out += RowOf(decision.reason).name;
    out += '"';
    AppendOrNull(", \"retry_after_ms\": ", Milliseconds(decision.retry_after), out);
  }
  if (decision.wait.count() > 0) {
    AppendOrNull(", \"wait_ms\": ", Milliseconds(decision.wait), out);
  }
  if (decision.shadow) {
    out += ", \"shadow\": true";
  }
  if (decision.degraded) {
    out += ", \"degraded\": true";
  }
  out += '}';
}

// Ids are 64 bits wide, and a JSON number in many a client holds 53: they go as text.
void AppendHolds(const service::Verdict& verdict, std::string& out) {
  bool first = true;
  for (const service::RuleDecision& item : verdict.decisions) {
    if (item.hold == 0) {
      continue;
    }
    out += first ? ", \"holds\": [" : ", ";
    first = false;
    out += "{\"name\": \"";
    out += item.rule->id;
    out += "\", \"id\": \"";
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, item.hold).ptr);
    out += "\"}";
  }
  if (!first) {
    out += ']';
  }
}

}  // namespace

void AppendAnswer(const service::Verdict& verdict, bool waited, std::string& out) {
  const service::RuleDecision* governing = verdict.governing_decision();
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> reset_at;
  if (governing != nullptr && governing->decision.limit != kUnlimited) {
    remaining = Counted(governing->decision.remaining);
    reset_at = ResetAt(verdict.now, governing->decision);
  }
  out += verdict.allowed ? "{\"allowed\": true" : "{\"allowed\": false";
  AppendOrNull(", \"remaining\": ", remaining, out);
  AppendOrNull(", \"reset_at\": ", reset_at, out);
  if (!verdict.allowed) {
    std::optional<std::int64_t> seconds;
    std::optional<std::int64_t> milliseconds;
    if (governing != nullptr && IsKnown(governing->decision.retry_after)) {
      seconds = std::max<std::int64_t>(1, CeilSeconds(governing->decision.retry_after));
      milliseconds = CeilMilliseconds(governing->decision.retry_after);
    }
    AppendOrNull(", \"retry_after\": ", seconds, out);
    AppendOrNull(", \"retry_after_ms\": ", milliseconds, out);
  } else if (verdict.wait.count() > 0) {
    AppendOrNull(", \"wait_ms\": ", Milliseconds(verdict.wait), out);
    if (waited) {
      out += ", \"waited\": true";
    }
  }
  out += ", \"limits\": [";
  bool first = true;
  for (const service::RuleDecision& item : verdict.decisions) {
    if (!first) {
      out += ", ";
    }
    first = false;
    AppendLimit(item, verdict.now, out);
  }
  out += ']';
  AppendHolds(verdict, out);
  out += '}';
}

}  // namespace sluice::frontend::http
