#include "frontend/http/answer.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sluice/reason.h"

#include "frontend/key_token.h"
#include "rules/rule.h"
#include "service/header_times.h"
#include "service/rounding.h"
#include "wire/text_appender.h"

namespace sluice::frontend::http {

namespace {

using wire::Decimal;
using wire::TextAppender;

Decimal OrNull(std::optional<std::int64_t> value) {
  return value ? Decimal(*value) : Decimal::Null();
}

Decimal Milliseconds(Duration wait) {
  return service::IsKnown(wait) ? Decimal(service::CeilMilliseconds(wait)) : Decimal::Null();
}

// What a limit and the verdict that it governs both say of the key.
struct KeyTexts {
  Decimal remaining = Decimal::Null();
  Decimal reset_at = Decimal::Null();
};

KeyTexts TextsOf(const Decision& decision, WallInstant now) {
  if (decision.limit == kUnlimited) {
    return {};
  }
  return {.remaining = Decimal(decision.remaining),
          .reset_at = OrNull(service::ResetAt(now, decision))};
}

void AddLimit(TextAppender& out, const service::RuleDecision& item, const KeyTexts& key) {
  const Decision& decision = item.decision;
  out.Add("{\"name\": \"").Add(item.rule->id);  // [A-Za-z0-9._-]: nothing has to be escaped.
  if (decision.allowed) {
    out.Add("\", \"allowed\": true, \"limit\": ");
  } else {
    out.Add("\", \"allowed\": false, \"limit\": ");
  }
  out.Add(decision.limit == kUnlimited ? Decimal::Null() : Decimal(decision.limit));
  out.Add(", \"remaining\": ").Add(key.remaining);
  out.Add(", \"reset_at\": ").Add(key.reset_at);
  if (!decision.allowed) {
    out.Add(", \"reason\": \"").Add(RowOf(decision.reason).name);
    out.Add("\", \"retry_after_ms\": ").Add(Milliseconds(decision.retry_after));
  }
  if (decision.wait.count() > 0) {
    out.Add(", \"wait_ms\": ").Add(Milliseconds(decision.wait));
  }
  if (decision.shadow) {
    out.Add(", \"shadow\": true");
  }
  if (decision.degraded) {
    out.Add(", \"degraded\": true");
  }
  out.Add("}");
}

// With the key that the hold is of: see key_token.h. Wherever a rule may grant holds the list is
// there, so that "none" and "no such rule" differ.
void AddHolds(TextAppender& out, const service::Verdict& verdict, const signing::Keyring* keys) {
  if (!service::MayHold(verdict)) {
    return;
  }
  std::string_view before = ", \"holds\": [";
  for (const service::RuleDecision& item : verdict.decisions) {
    if (item.hold == 0 || keys == nullptr) {
      continue;
    }
    std::string token;
    AppendHoldToken(*keys, item, token);
    out.Add(before).Add("{\"name\": \"").Add(item.rule->id).Add("\", \"id\": \"");
    out.Add(std::string_view(token)).Add("\"}");
    before = ", ";
  }
  out.Add(before == ", " ? "]" : ", \"holds\": []");
}

void AddCharges(TextAppender& out, ChargeKind kind, const service::Verdict& verdict,
                const signing::Keyring* keys) {
  std::string token;
  if (keys != nullptr && AppendChargeToken(*keys, kind, verdict, token)) {
    out.Add(kind == ChargeKind::kReceipt ? std::string_view(", \"receipt\": \"")
                                         : std::string_view(", \"reservation\": \""));
    out.Add(std::string_view(token)).Add("\"");
  }
}

}  // namespace

int StatusOf(const service::Verdict& verdict) {
  if (!verdict.request_error.empty()) {
    return 400;
  }
  const service::RuleDecision* governing = verdict.governing_decision();
  return verdict.allowed || governing == nullptr ? 200
                                                 : RowOf(governing->decision.reason).http_status;
}

void AppendAnswer(const service::Verdict& verdict, const AnswerOptions& options,
                  std::string& answer) {
  TextAppender out(answer);
  const service::RuleDecision* governing = verdict.governing_decision();
  const KeyTexts shown =
      governing == nullptr ? KeyTexts{} : TextsOf(governing->decision, verdict.now);
  if (verdict.allowed) {
    out.Add("{\"allowed\": true, \"remaining\": ");
  } else {
    out.Add("{\"allowed\": false, \"remaining\": ");
  }
  out.Add(shown.remaining).Add(", \"reset_at\": ").Add(shown.reset_at);
  if (!verdict.allowed) {
    std::optional<std::int64_t> seconds;
    std::optional<std::int64_t> milliseconds;
    if (governing != nullptr && service::IsKnown(governing->decision.retry_after)) {
      seconds = std::max<std::int64_t>(1, service::CeilSeconds(governing->decision.retry_after));
      milliseconds = service::CeilMilliseconds(governing->decision.retry_after);
    }
    out.Add(", \"retry_after\": ").Add(OrNull(seconds));
    out.Add(", \"retry_after_ms\": ").Add(OrNull(milliseconds));
  } else if (verdict.wait.count() > 0) {
    out.Add(", \"wait_ms\": ").Add(Milliseconds(verdict.wait));
    if (options.waited) {
      out.Add(", \"waited\": true");
    }
  }
  std::string_view before = ", \"limits\": [";
  for (const service::RuleDecision& item : verdict.decisions) {
    out.Add(before);
    before = ", ";
    if (&item == governing) {
      AddLimit(out, item, shown);
    } else {
      AddLimit(out, item, TextsOf(item.decision, verdict.now));
    }
  }
  out.Add(verdict.decisions.empty() ? ", \"limits\": []" : "]");
  if (verdict.kill_switch) {
    out.Add(", \"kill_switch\": true");
  }
  AddHolds(out, verdict, options.keys);
  if (options.receipt) {
    AddCharges(out, ChargeKind::kReceipt, verdict, options.keys);
  }
  if (options.reservation) {
    AddCharges(out, ChargeKind::kReservation, verdict, options.keys);
  }
  out.Add("}");
}

}  // namespace sluice::frontend::http
