#include "frontend/resp/replies.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/reason.h"

#include "frontend/key_token.h"
#include "rules/rule.h"
#include "service/header_times.h"
#include "service/rounding.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

namespace {

using service::CeilMilliseconds;
using service::CeilSeconds;
using service::IsKnown;
using service::ResetAt;

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

// Every CL.THROTTLE passes here: one piece of memory, and one append.
class Line {
 public:
  void Integer(std::int64_t value) {
    *end_++ = ':';
    end_ = std::to_chars(end_, text_ + sizeof text_, value).ptr;
    *end_++ = '\r';
    *end_++ = '\n';
  }
  [[nodiscard]] std::string_view text() const {
    return {text_, static_cast<std::size_t>(end_ - text_)};
  }

 private:
  char text_[160] = "*5\r\n";  // Five numbers of at most 20 characters.
  char* end_ = text_ + 4;
};

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

std::int64_t ThrottleSeconds(Duration wait) {
  if (wait >= Decision::kUnknown) {
    return -1;
  }
  constexpr std::int64_t kMillisecond = 1'000'000;
  const std::int64_t milliseconds = wait.count() / kMillisecond;
  return milliseconds / 1000 + (milliseconds % 1000 != 0 ? 1 : 0);
}

void AppendThrottleReply(const Decision& decision, std::string& out) {
  if (!decision.allowed) {
    const ReasonRow& row = RowOf(decision.reason);
    if (row.http_status == 503) {
      wire::RespWriter(out, wire::RespVersion::k2).Error(row.resp_error, row.name);
      return;
    }
  }
  Line line;
  line.Integer(decision.allowed ? 0 : 1);
  line.Integer(decision.limit);
  line.Integer(decision.remaining);
  line.Integer(decision.allowed ? -1 : ThrottleSeconds(decision.retry_after));
  line.Integer(ThrottleSeconds(decision.reset_after));
  out += line.text();
}

}  // namespace sluice::frontend::resp
