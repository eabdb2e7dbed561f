#include <algorithm>

#include "base/random.h"
#include "core/wide.h"
#include "redis/check_request.h"

namespace sluice::redis {

namespace {

using store::CheckAnswer;

// As src/redis/lua/now.lua numbers them.
static_assert(static_cast<int>(Reason::kQuotaExceeded) == 1);
static_assert(static_cast<int>(Reason::kCostExceedsCapacity) == 2);
static_assert(static_cast<int>(Reason::kLimitZero) == 3);
static_assert(static_cast<int>(Reason::kInFlight) == 4);
static_assert(static_cast<int>(Reason::kReserved) == 5);
static_assert(static_cast<int>(Reason::kBanned) == 7);
constexpr std::int64_t kLastReason = 5;
constexpr std::int64_t kBanned = 7;
constexpr std::int64_t kCharged = -1;
constexpr std::int64_t kNever = -1;
constexpr std::int64_t kUnknown = -2;

constexpr std::size_t kNumbersPerCheck = 4;

Duration WaitOf(std::int64_t us) {
  if (us >= kLongestUs) {
    return Duration(core::kLongestWaitNs);
  }
  return Duration(us * 1000);
}

bool HasBans(const store::CheckCall& call) {
  return std::ranges::any_of(call.checks,
                             [](const store::Check& check) { return check.ban != nullptr; });
}

// False if these cannot be the numbers of a decision.
bool ReadDecision(Reply numbers, const store::Check& check, WallInstant now, CheckAnswer& answer) {
  const std::int64_t code = numbers[0].integer;
  const std::int64_t remaining = numbers[1].integer;
  const std::int64_t reset_after = numbers[2].integer;
  const std::int64_t wait = numbers[3].integer;
  if (code < kCharged || (code > kLastReason && code != kBanned) || remaining < 0 ||
      remaining > kMaxUnits || reset_after < 0 || wait < (code > 0 ? kUnknown : 0)) {
    return false;
  }
  if (check.quota.unlimited && code <= 0) {
    answer = UnlimitedAnswer(check);
    return true;
  }
  Decision& decision = answer.decision;
  decision = {};
  decision.allowed = code <= 0;
  decision.shadow = check.shadow;
  decision.limit = check.quota.unlimited ? kUnlimited : check.quota.limit;
  decision.remaining = remaining;
  decision.reset_after = WaitOf(reset_after);
  if (decision.allowed) {
    decision.wait = WaitOf(wait);
  } else {
    decision.reason = static_cast<Reason>(code);
    decision.retry_after = wait == kNever     ? Decision::kNever
                           : wait == kUnknown ? Decision::kUnknown
                                              : WaitOf(wait);
  }
  answer.error = store::StoreError::kNone;
  answer.charged = code == kCharged;
  answer.receipt = {};
  if (!answer.charged) {
    answer.hold = 0;
  } else if (check.want_receipt) {
    answer.receipt = {.charged_at_ns = now.time_since_epoch().count(),
                      .nonce = base::UniqueNumber(),
                      .store_id = store::kSharedStoreId};
  } else if (answer.hold != 0) {
    answer.receipt.store_id = store::kSharedStoreId;
  }
  return true;
}

}  // namespace

Outcome CheckVerb::Read(Reply reply, Call& call) {
  if (!ReadTime(reply, call.now)) {
    return Outcome::Malformed();
  }
  if (reply.size() == 2) {  // The calendar's edges that were sent are not those of this time.
    return {.kind = Outcome::Kind::kAgain};
  }
  Reply rest = reply.subspan(2);
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const store::Check& check = call.checks[i];
    if (!IsAsked(check)) {
      call.answers[i] = UnlimitedAnswer(check);
      continue;
    }
    if (rest.size() < kNumbersPerCheck ||
        !ReadDecision(rest.first(kNumbersPerCheck), check, call.now, call.answers[i])) {
      return Outcome::Malformed();
    }
    rest = rest.subspan(kNumbersPerCheck);
  }
  const bool has_bans = HasBans(call);
  if (rest.size() != (has_bans ? 1 : 0)) {
    return Outcome::Malformed();
  }
  Outcome outcome;
  outcome.bans =
      has_bans ? static_cast<std::uint64_t>(std::max<std::int64_t>(rest[0].integer, 0)) : 0;
  return outcome;
}

CheckAnswer UnlimitedAnswer(const store::Check& check) {
  CheckAnswer answer;
  answer.decision = {
      .allowed = true, .shadow = check.shadow, .limit = kUnlimited, .remaining = kUnlimited};
  return answer;
}

std::vector<LateCharge> ChargedIn(Reply reply) {
  std::vector<LateCharge> charged;
  if (AreIntegers(reply)) {
    const std::int64_t now = reply[1].integer;
    for (std::size_t i = 2; i + kNumbersPerCheck <= reply.size(); i += kNumbersPerCheck) {
      const std::int64_t reset_after = reply[i + 2].integer;
      if (reply[i].integer == kCharged && now >= 0 && now < kLongestUs && reset_after >= 0) {
        charged.push_back({.check = (i - 2) / kNumbersPerCheck,
                           .charged_us = now,
                           .ends_us = now + std::min(reset_after, kLongestUs)});
      }
    }
  }
  return charged;
}

}  // namespace sluice::redis
