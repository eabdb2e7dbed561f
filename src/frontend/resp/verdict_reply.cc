#include "frontend/resp/verdict_reply.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/reason.h"

#include "frontend/http/numbers.h"
#include "frontend/key_token.h"
#include "rules/rule.h"

namespace sluice::frontend::resp {

namespace {

using http::CeilMilliseconds;
using http::CeilSeconds;
using http::IsKnown;
using http::ResetAt;

void NameOrNull(wire::RespWriter& writer, std::string_view name,
                std::optional<std::int64_t> value) {
  writer.Bulk(name);
  if (value) {
    writer.Integer(*value);
  } else {
    writer.Null();
  }
}

void NameTruth(wire::RespWriter& writer, std::string_view name, bool value) {
  writer.Bulk(name);
  writer.Truth(value);
}

std::optional<std::int64_t> Counted(const Decision& decision, Units units) {
  return decision.limit == kUnlimited ? std::nullopt : std::optional<std::int64_t>(units);
}

std::optional<std::int64_t> Milliseconds(Duration wait) {
  return IsKnown(wait) ? std::optional(CeilMilliseconds(wait)) : std::nullopt;
}

void AppendLimit(const service::RuleDecision& item, WallInstant now, wire::RespWriter& writer) {
  const Decision& decision = item.decision;
  const bool waits = decision.wait.count() > 0;
  writer.Map(5U + (decision.allowed ? 0U : 2U) + (waits ? 1U : 0U) + (decision.shadow ? 1U : 0U) +
             (decision.degraded ? 1U : 0U));
  writer.Bulk("name");
  writer.Bulk(item.rule->id);
  NameTruth(writer, "allowed", decision.allowed);
  NameOrNull(writer, "limit", Counted(decision, decision.limit));
  NameOrNull(writer, "remaining", Counted(decision, decision.remaining));
  NameOrNull(writer, "reset_at", ResetAt(now, decision));
  if (!decision.allowed) {
    writer.Bulk("reason");
    writer.Bulk(RowOf(decision.reason).name);
    NameOrNull(writer, "retry_after_ms", Milliseconds(decision.retry_after));
  }
  if (waits) {
    NameOrNull(writer, "wait_ms", Milliseconds(decision.wait));
  }
  if (decision.shadow) {
    NameTruth(writer, "shadow", true);
  }
  if (decision.degraded) {
    NameTruth(writer, "degraded", true);
  }
}

void AppendHolds(const service::Verdict& verdict, const signing::Keyring* keys,
                 wire::RespWriter& writer) {
  const auto is_given = [keys](const service::RuleDecision& item) {
    return item.hold != 0 && keys != nullptr;
  };
  writer.Bulk("holds");
  writer.Array(static_cast<std::size_t>(std::ranges::count_if(verdict.decisions, is_given)));
  for (const service::RuleDecision& item : verdict.decisions) {
    if (!is_given(item)) {
      continue;
    }
    std::string token;
    AppendHoldToken(*keys, item, token);
    writer.Map(2);
    writer.Bulk("name");
    writer.Bulk(item.rule->id);
    writer.Bulk("id");
    writer.Bulk(token);
  }
}

// "" where it was not asked for, or nothing was charged.
std::string TokenOf(bool asked, ChargeKind kind, const service::Verdict& verdict,
                    const signing::Keyring* keys) {
  std::string token;
  if (asked && keys != nullptr) {
    (void)AppendChargeToken(*keys, kind, verdict, token);
  }
  return token;
}

void NameToken(wire::RespWriter& writer, std::string_view name, std::string_view token) {
  if (!token.empty()) {
    writer.Bulk(name);
    writer.Bulk(token);
  }
}

}  // namespace

void AppendVerdict(const service::Verdict& verdict, const VerdictOptions& options,
                   wire::RespWriter& writer) {
  const service::RuleDecision* governing = verdict.governing_decision();
  std::optional<std::int64_t> remaining;
  std::optional<std::int64_t> reset_at;
  std::optional<std::int64_t> seconds;
  std::optional<std::int64_t> milliseconds;
  if (governing != nullptr) {
    const Decision& decision = governing->decision;
    remaining = Counted(decision, decision.remaining);
    reset_at = ResetAt(verdict.now, decision);
    if (IsKnown(decision.retry_after)) {
      seconds = std::max<std::int64_t>(1, CeilSeconds(decision.retry_after));
      milliseconds = CeilMilliseconds(decision.retry_after);
    }
  }
  const bool waits = verdict.allowed && verdict.wait.count() > 0;
  const bool may_hold = service::MayHold(verdict);
  const std::string receipt = TokenOf(options.receipt, ChargeKind::kReceipt, verdict, options.keys);
  const std::string reservation =
      TokenOf(options.reservation, ChargeKind::kReservation, verdict, options.keys);
  writer.Map(4U + (verdict.allowed ? 0U : 2U) + (waits ? 1U : 0U) + (may_hold ? 1U : 0U) +
             (verdict.kill_switch ? 1U : 0U) + (receipt.empty() ? 0U : 1U) +
             (reservation.empty() ? 0U : 1U));
  NameTruth(writer, "allowed", verdict.allowed);
  NameOrNull(writer, "remaining", remaining);
  NameOrNull(writer, "reset_at", reset_at);
  if (!verdict.allowed) {
    NameOrNull(writer, "retry_after", seconds);
    NameOrNull(writer, "retry_after_ms", milliseconds);
  } else if (waits) {
    NameOrNull(writer, "wait_ms", Milliseconds(verdict.wait));
  }
  writer.Bulk("limits");
  writer.Array(verdict.decisions.size());
  for (const service::RuleDecision& item : verdict.decisions) {
    AppendLimit(item, verdict.now, writer);
  }
  if (verdict.kill_switch) {
    NameTruth(writer, "kill_switch", true);
  }
  if (may_hold) {
    AppendHolds(verdict, options.keys, writer);
  }
  NameToken(writer, "receipt", receipt);
  NameToken(writer, "reservation", reservation);
}

}  // namespace sluice::frontend::resp
