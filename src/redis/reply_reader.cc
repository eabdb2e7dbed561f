#include "redis/reply_reader.h"

#include <algorithm>

#include "base/random.h"
#include "core/wide.h"
#include "redis/check_command.h"
#include "redis/key_text.h"

namespace sluice::redis {

namespace {

using store::CheckAnswer;
using wire::RespType;

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
constexpr std::int64_t kLongestUs = std::int64_t{1} << 52U;  // What the scripts cut waits to.

Duration WaitOf(std::int64_t us) {
  if (us >= kLongestUs) {
    return Duration(core::kLongestWaitNs);
  }
  return Duration(us * 1000);
}

bool AreIntegers(Reply reply) {
  if (reply.empty() || reply[0].type != RespType::kArray || reply.size() != reply[0].size + 1 ||
      reply.size() < 2) {
    return false;
  }
  for (const wire::RespNode& node : reply.subspan(1)) {
    if (node.type != RespType::kInteger) {
      return false;
    }
  }
  return true;
}

bool IsTime(const wire::RespNode& node) {
  return node.type == RespType::kInteger && node.integer >= 0 && node.integer < kLongestUs;
}
WallInstant InstantOf(const wire::RespNode& node) {
  return WallInstant(Duration(node.integer * 1000));
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

bool ReadTime(Reply reply, WallInstant& now) {
  if (!AreIntegers(reply) || !IsTime(reply[1])) {
    return false;
  }
  now = InstantOf(reply[1]);
  return true;
}

CheckReply ReadCheckReply(Reply reply, store::CheckCall& call) {
  if (!ReadTime(reply, call.now)) {
    return CheckReply::kMalformed;
  }
  if (reply.size() == 2) {
    return CheckReply::kAgain;
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
      return CheckReply::kMalformed;
    }
    rest = rest.subspan(kNumbersPerCheck);
  }
  return rest.size() == (HasBans(call) ? 1 : 0) ? CheckReply::kAnswered : CheckReply::kMalformed;
}

std::uint64_t BansIn(Reply reply, const store::CheckCall& call) {
  return HasBans(call) ? static_cast<std::uint64_t>(std::max<std::int64_t>(reply.back().integer, 0))
                       : 0;
}

bool ReadBanPage(Reply reply, BanPage& page) {
  constexpr std::size_t kNodesPerBan = 4;
  if (reply.size() < 3 || reply[0].type != RespType::kArray || reply.size() != reply[0].size + 1 ||
      (reply.size() - 3) % kNodesPerBan != 0 || !IsTime(reply[1]) ||
      reply[2].type != RespType::kBulk || reply[2].text.empty()) {
    return false;
  }
  page.now = InstantOf(reply[1]);
  for (Reply rest = reply.subspan(3); !rest.empty(); rest = rest.subspan(kNodesPerBan)) {
    if (rest[0].type != RespType::kBulk || !IsTime(rest[1]) || !IsTime(rest[2]) ||
        rest[3].type != RespType::kBulk) {
      return false;
    }
    if (auto key = ReadBanKeyText(rest[0].text, rest[3].text)) {
      page.bans.emplace_back(rest[0].text, store::BannedKey{.key = *std::move(key),
                                                            .since = InstantOf(rest[2]),
                                                            .until = InstantOf(rest[1])});
    }
  }
  page.begin = reply[2].text;
  return true;
}

bool ReadRecord(Reply reply, store::RecordCall& call) {
  constexpr auto kLast = static_cast<std::int64_t>(store::RecordCall::Found::kPending);
  if (reply.size() != 4 || reply[0].type != RespType::kArray || reply[0].size != 3 ||
      !IsTime(reply[1]) || reply[2].type != RespType::kInteger || reply[2].integer < 0 ||
      reply[2].integer > kLast || reply[3].type != RespType::kBulk) {
    return false;
  }
  call.now = InstantOf(reply[1]);
  call.found = static_cast<store::RecordCall::Found>(reply[2].integer);
  call.answer = reply[3].text;
  return true;
}

bool ReadSecret(Reply reply, SecretCall& call) {
  if (reply.size() != 1 || reply[0].type != RespType::kBulk ||
      reply[0].text.size() != SecretCall::kDigits ||
      reply[0].text.find_first_not_of("0123456789abcdef") != std::string_view::npos) {
    return false;
  }
  call.found = reply[0].text;
  return true;
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
