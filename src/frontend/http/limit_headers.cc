#include "frontend/http/limit_headers.h"

#include <algorithm>

#include "rules/rule.h"
#include "service/header_times.h"
#include "service/rounding.h"
#include "wire/text_appender.h"

namespace sluice::frontend::http {

namespace {

using wire::Decimal;
using wire::TextAppender;

bool IsShown(const service::RuleDecision& item) {
  return !item.decision.shadow && item.decision.limit != kUnlimited;
}

void AddIfAny(TextAppender& out, std::string_view key, std::optional<std::int64_t> value) {
  if (value) {
    out.Add(key).Add(*value);
  }
}

// The numbers of one decision that several fields contain, written once.
struct Shown {
  explicit Shown(const Decision& decision) : limit(decision.limit), remaining(decision.remaining) {}
  Decimal limit;
  Decimal remaining;
};

void AddPolicy(TextAppender& out, const service::RuleDecision& item, const Decimal& limit,
               WallInstant now) {
  out.Add("\"").Add(item.rule->id).Add("\";q=").Add(limit);
  if (core::HasHolds(item.quota.algorithm)) {
    out.Add(";qu=\"concurrent-requests\"");
  }
  AddIfAny(out, ";w=", service::WindowSeconds(item.quota, now));
}

void AddState(TextAppender& out, const service::RuleDecision& item, const Decimal& remaining,
              WallInstant now) {
  out.Add("\"").Add(item.rule->id).Add("\";r=").Add(remaining);
  AddIfAny(out, ";t=", service::EffectiveSeconds(item.quota, item.decision, now));
}

void AppendXRateLimit(TextAppender& out, const service::Verdict& verdict,
                      const service::RuleDecision& governing, const Shown& shown) {
  out.Add("X-RateLimit-Limit: ").Add(shown.limit);
  out.Add("\r\nX-RateLimit-Remaining: ").Add(shown.remaining);
  if (const auto reset_at = service::ResetAt(verdict.now, governing.decision)) {
    out.Add("\r\nX-RateLimit-Reset: ").Add(*reset_at);
  }
  out.Add("\r\n");
}

void AppendGithub(TextAppender& out, const service::RuleDecision& governing) {
  out.Add("X-RateLimit-Used: ").Add(governing.decision.limit - governing.decision.remaining);
  out.Add("\r\nX-RateLimit-Resource: ").Add(governing.rule->id);
  out.Add("\r\n");
}

void AppendDraft10(TextAppender& out, const service::Verdict& verdict,
                   const service::RuleDecision& governing, const Shown& shown) {
  if (std::none_of(verdict.decisions.begin(), verdict.decisions.end(), IsShown)) {
    return;
  }
  std::string_view before = "RateLimit-Policy: ";
  for (const service::RuleDecision& item : verdict.decisions) {
    if (IsShown(item)) {
      const Decimal limit = &item == &governing ? shown.limit : Decimal(item.decision.limit);
      AddPolicy(out.Add(before), item, limit, verdict.now);
      before = ", ";
    }
  }
  before = "\r\nRateLimit: ";
  for (const service::RuleDecision& item : verdict.decisions) {
    if (IsShown(item)) {
      const Decimal remaining =
          &item == &governing ? shown.remaining : Decimal(item.decision.remaining);
      AddState(out.Add(before), item, remaining, verdict.now);
      before = ", ";
    }
  }
  out.Add("\r\n");
}

}  // namespace

void AppendLimitFields(const service::Verdict& verdict, std::string& fields, std::uint8_t groups) {
  const service::RuleDecision* const governing = verdict.governing_decision();
  if (governing == nullptr) {
    return;
  }
  TextAppender out(fields);
  const Shown shown(governing->decision);
  if (IsShown(*governing) && (groups & kXRateLimitFields) != 0) {
    AppendXRateLimit(out, verdict, *governing, shown);
  }
  if (IsShown(*governing) && (groups & kGithubFields) != 0) {
    AppendGithub(out, *governing);
  }
  if ((groups & kDraft10Fields) != 0) {
    AppendDraft10(out, verdict, *governing, shown);
  }
}

std::string LimitFieldNames(std::uint8_t groups) {
  struct Names {
    LimitFields group;
    std::string_view names;
  };
  constexpr auto kNames = std::to_array<Names>({
      {kXRateLimitFields, ", X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset"},
      {kGithubFields, ", X-RateLimit-Used, X-RateLimit-Resource"},
      {kDraft10Fields, ", RateLimit, RateLimit-Policy"},
  });
  std::string all;
  for (const Names& row : kNames) {
    if ((groups & row.group) != 0) {
      all += row.names;
    }
  }
  return all;
}

std::optional<std::int64_t> RetryAfterSeconds(const service::Verdict& verdict,
                                              std::uint64_t random) {
  if (verdict.allowed) {
    return std::nullopt;
  }
  constexpr Duration kLeast = std::chrono::seconds(1);
  Duration longest{};
  Duration jitter{};
  for (const service::RuleDecision& item : verdict.decisions) {
    const Decision& decision = item.decision;
    if (decision.allowed || decision.shadow) {
      continue;
    }
    if (decision.retry_after == Decision::kNever) {
      return std::nullopt;
    }
    const Duration wait = service::IsKnown(decision.retry_after) ? decision.retry_after : kLeast;
    if (wait > longest) {
      longest = wait;
      jitter = item.rule->retry_jitter;
    }
  }
  if (jitter.count() > 0) {
    const auto width = static_cast<std::uint64_t>(jitter.count()) + 1;
    const Duration room = Decision::kUnknown - longest;
    longest += std::min(Duration(static_cast<std::int64_t>(random % width)), room);
  }
  return std::max<std::int64_t>(1, service::CeilSeconds(longest));
}

}  // namespace sluice::frontend::http
