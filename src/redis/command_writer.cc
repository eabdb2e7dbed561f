#include "redis/command_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "core/calendar.h"
#include "core/wide.h"
#include "redis/key_text.h"
#include "store/table_core.h"

namespace sluice::redis {

namespace {

using core::Algorithm;
using core::Quota;
using store::Check;

constexpr std::int64_t kNsPerUs = 1000;

std::int64_t InUs(std::int64_t ns) {
  return ns / kNsPerUs - (ns % kNsPerUs < 0 ? 1 : 0);
}
std::int64_t InUs(WallInstant instant) {
  return InUs(instant.time_since_epoch().count());
}

// "$3\r\n123\r\n" and so on, straight into the bytes to be sent.
class Args {
 public:
  Args(std::string& out, std::size_t count) : out_(out) {
    Head('*', static_cast<std::int64_t>(count));
  }
  // The last ones of a command that has begun.
  explicit Args(std::string& out) : out_(out) {}
  void Put(std::string_view bytes) {
    Head('$', static_cast<std::int64_t>(bytes.size()));
    out_ += bytes;
    out_ += "\r\n";
  }
  void Put(std::int64_t number) {
    std::array<char, 24> text;  // NOLINT: to_chars writes it.
    const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    Put(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
  }
  void PutFlag(bool flag) { Put(flag ? std::string_view("1") : std::string_view("0")); }
  void PutKey(std::string_view rule, const core::KeyView& key, const Quota& quota,
              std::string_view suffix = {}) {
    const std::size_t at = out_.size();
    AppendKeyText(rule, key, quota, out_);
    out_ += suffix;
    PutHeadAt(at);
  }
  void PutBeside(std::string_view rule, const core::KeyView& key, BesideKey what) {
    const std::size_t at = out_.size();
    AppendBesideKeyText(rule, key, what, out_);
    PutHeadAt(at);
  }
  // The keys of the key's ban and of its denials.
  void PutBanKeys(std::string_view rule, const core::KeyView& key) {
    PutBeside(rule, key, BesideKey::kBan);
    PutBeside(rule, key, BesideKey::kDenials);
  }
  void PutAttributesOfBan(const core::KeyView& key) {
    const std::size_t at = out_.size();
    AppendAttributesOfBan(key, out_);
    PutHeadAt(at);
  }
  void PutKeys(const core::KeyView& key, const Quota& quota) {
    PutKey(key.rule, key, quota);
    if (!key.formerly.empty()) {
      PutKey(key.formerly, key, quota);
    }
  }
  // Beside the key, in the same slot: no value can have the "#", which is escaped there.
  void PutMark(const store::SettleCall& call) {
    PutKey(call.key.rule, call.key, call.quota,
           "#settled:" + std::to_string(call.receipt.nonce) + ":" +
               std::to_string(call.receipt.charged_at_ns));
  }

 private:
  // Of what was written from `at` on: its size is known only then.
  void PutHeadAt(std::size_t at) {
    std::array<char, 24> head;  // NOLINT: to_chars writes it.
    head[0] = '$';
    char* end = std::to_chars(head.data() + 1, head.data() + 20, out_.size() - at).ptr;
    *end++ = '\r';
    *end++ = '\n';
    out_.insert(at, head.data(), static_cast<std::size_t>(end - head.data()));
    out_ += "\r\n";
  }
  void Head(char mark, std::int64_t number) {
    std::array<char, 24> text;  // NOLINT: to_chars writes it.
    out_ += mark;
    out_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
    out_ += "\r\n";
  }

  std::string& out_;
};

std::size_t KeysOf(const core::KeyView& key) {
  return key.formerly.empty() ? 1 : 2;
}

ScriptId ScriptFor(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::kFixedWindow:
      return ScriptId::kFixedWindow;
    case Algorithm::kSlidingWindowLog:
      return ScriptId::kSlidingWindowLog;
    case Algorithm::kSlidingWindowCounter:
      return ScriptId::kSlidingWindowCounter;
    case Algorithm::kSlidingWindow:
      return ScriptId::kSlidingWindow;
    case Algorithm::kConcurrency:
      return ScriptId::kConcurrency;
    case Algorithm::kTokenBucket:
    case Algorithm::kGcra:
    case Algorithm::kLeakyBucket:
    case Algorithm::kThrottle:  // RedisStore has refused it,
    case Algorithm::kTally:     // and this.
      break;
  }
  return ScriptId::kBucket;
}

void BeginScript(Args& args, ScriptId script, std::size_t keys) {
  args.Put("EVALSHA");
  args.Put(ScriptOf(script).sha1);
  args.Put(static_cast<std::int64_t>(keys));
}

void PutTime(Args& args, const Judged& judged) {
  if (judged.by_server) {
    args.Put("");
  } else {
    args.Put(InUs(judged.now));
  }
}

// The four values of a quota, as the fragment of its algorithm wants them.
void PutQuota(Args& args, const Quota& quota, const Judged& judged, store::HoldId hold) {
  args.Put(quota.limit);
  if (quota.calendar != nullptr) {
    const core::Period now = quota.calendar->At(judged.now);
    args.Put(InUs(now.begin));
    args.Put(InUs(now.end));
    args.Put(InUs(quota.calendar->At(now.end).end));
    return;
  }
  args.Put(InUs(quota.window.count()));
  if (core::IsBucket(quota.algorithm)) {
    args.Put(quota.rate);
    args.PutFlag(quota.shape);
  } else if (quota.algorithm == Algorithm::kSlidingWindow) {
    args.Put(quota.segments);
    args.PutFlag(quota.strict);
  } else if (quota.algorithm == Algorithm::kConcurrency) {
    args.Put(quota.ceiling);
    std::array<char, 24> text;  // NOLINT: to_chars writes it.
    const char* const end = std::to_chars(text.data(), text.data() + text.size(), hold).ptr;
    args.Put(std::string_view(text.data(), static_cast<std::size_t>(end - text.data())));
  } else {
    args.PutFlag(false);
    args.PutFlag(false);
  }
}

// When what was charged at `charged` stops counting anyway: a refund comes too late then. As
// the table has it (store/refund.cc).
std::int64_t UsedUntilUs(const Quota& quota, std::int64_t charged) {
  const std::int64_t window = InUs(quota.window.count());
  if (core::IsBucket(quota.algorithm)) {
    if (quota.rate == 0) {
      return std::int64_t{1} << 52U;
    }
    const core::U128 cap =
        core::Multiply(static_cast<std::uint64_t>(quota.limit), static_cast<std::uint64_t>(window));
    return charged + static_cast<std::int64_t>(
                         core::FloorDivide(cap, static_cast<std::uint64_t>(quota.rate)));
  }
  if (quota.algorithm == Algorithm::kFixedWindow) {
    if (quota.calendar != nullptr) {
      return InUs(quota.calendar->At(WallInstant(Duration(charged * kNsPerUs))).end);
    }
    return charged + window - core::PastMultiple(charged, window);
  }
  return charged + window;
}

void PutRefund(Args& args, const core::KeyView& key, const Quota& quota, Units units,
               const Judged& judged) {
  BeginScript(args, ScriptId::kRefund, KeysOf(key));
  args.PutKeys(key, quota);
  PutTime(args, judged);
  args.Put(ScriptOf(ScriptFor(quota.algorithm)).name);
  args.Put(units);
  PutQuota(args, quota, judged, 0);
}

void AppendReleaseOf(const core::KeyView& key, const Quota& quota, store::HoldId hold, bool renew,
                     const Judged& judged, std::string& out) {
  Args args(out, 3 + KeysOf(key) + (renew ? 3 : 2));
  BeginScript(args, ScriptId::kRelease, KeysOf(key));
  args.PutKeys(key, quota);
  PutTime(args, judged);
  args.Put(std::to_string(hold));
  if (renew) {
    args.Put(InUs(quota.window.count()));
  }
}

// What is unlimited keeps nothing, under no name.
bool HasFormer(const Check& check) {
  return !check.key.formerly.empty() && !check.quota.unlimited;
}

void PutCheckKeys(Args& args, const Check& check) {
  if (check.quota.unlimited) {
    args.PutBeside(check.key.rule, check.key, BesideKey::kBan);  // A key, and no other check's.
  } else {
    args.PutKeys(check.key, check.quota);
  }
}

// The eight values of a check that is asked.
void PutCheck(Args& args, const Check& check, const Judged& judged, store::HoldId hold) {
  const bool unlimited = check.quota.unlimited;
  args.Put(unlimited ? std::string_view("unlimited")
                     : ScriptOf(ScriptFor(check.quota.algorithm)).name);
  args.PutFlag(HasFormer(check));
  args.PutFlag(check.shadow);
  args.Put(check.cost.units);
  if (unlimited) {
    for (int i = 0; i < 4; ++i) {
      args.PutFlag(false);
    }
  } else {
    PutQuota(args, check.quota, judged, hold);
  }
}

// What guard_begin.lua takes.
void PutGuardKeys(Args& args, const store::CheckCall& call) {
  for (const Check& check : call.checks) {
    if (check.ban != nullptr) {
      args.PutBanKeys(check.key.rule, check.key);
      if (!check.key.formerly.empty()) {
        args.PutBeside(check.key.formerly, check.key, BesideKey::kBan);
      }
    }
  }
}
void PutGuards(Args& args, const store::CheckCall& call, std::size_t guards) {
  std::int64_t number = 0;
  for (const Check& check : call.checks) {
    number += IsAsked(check) ? 1 : 0;
    if (check.ban != nullptr) {
      args.Put(number);
      args.Put(check.ban->after);
      args.Put(InUs(check.ban->within.count()));
      args.Put(InUs(check.ban->lasts.count()));
      args.PutFlag(!check.key.formerly.empty());
      args.PutAttributesOfBan(check.key);
    }
  }
  args.Put(static_cast<std::int64_t>(guards));
}

// Under both ids.
void PutAllBanKeys(Args& args, const core::KeyView& key) {
  args.PutBanKeys(key.rule, key);
  if (!key.formerly.empty()) {
    args.PutBanKeys(key.formerly, key);
  }
}

// The one check that is asked, if there is only one and it needs nothing but its own key.
const Check* OnlyPlain(const store::CheckCall& call) {
  const Check* only = nullptr;
  for (const Check& check : call.checks) {
    if (IsAsked(check)) {
      if (only != nullptr) {
        return nullptr;
      }
      only = &check;
    }
  }
  return only != nullptr && only->key.formerly.empty() && only->ban == nullptr &&
                 call.request_id == 0
             ? only
             : nullptr;
}

// Where a part of a request over several slots keeps what it charged.
std::string RecordOf(const store::CheckCall& call) {
  const auto first = std::ranges::find_if(call.checks, IsAsked);
  std::string record = "sl1:{";
  AppendTag(first->key.rule, first->key, record);
  record += "}:undo:";
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  record.append(text.data(),
                std::to_chars(text.data(), text.data() + text.size(), call.request_id, 16).ptr);
  return record;
}

}  // namespace

ScriptId AppendCheck(store::CheckCall& call, const Judged& judged, std::string& out) {
  std::size_t asked = 0;
  std::size_t keys = 0;
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    const bool holds = check.quota.algorithm == Algorithm::kConcurrency && !check.quota.unlimited;
    call.answers[i].hold = holds ? store::NextNonce() | 1U : 0;
    if (IsAsked(check)) {
      ++asked;
      keys += HasFormer(check) ? 2 : 1;
    }
  }
  if (const Check* check = OnlyPlain(call)) {
    const auto i = static_cast<std::size_t>(check - call.checks.data());
    const ScriptId script = ScriptFor(check->quota.algorithm);
    Args args(out, 3 + 1 + 7);
    BeginScript(args, script, 1);
    args.PutKey(check->key.rule, check->key, check->quota);
    PutTime(args, judged);
    args.PutFlag(call.peek);
    args.Put(check->cost.units);
    PutQuota(args, check->quota, judged, call.answers[i].hold);
    return script;
  }
  std::size_t guards = 0;
  for (const Check& check : call.checks) {
    if (check.ban != nullptr) {
      ++guards;
      keys += check.key.formerly.empty() ? 2 : 3;
    }
  }
  const bool spans = call.request_id != 0;
  const ScriptId script = guards > 0 ? spans ? ScriptId::kGuardedSpan : ScriptId::kGuarded
                          : spans    ? ScriptId::kSpan
                                     : ScriptId::kRequest;
  keys += spans ? 1 : 0;
  Args args(out, 3 + keys + 2 + 8 * asked + (guards > 0 ? 6 * guards + 1 : 0));
  BeginScript(args, script, keys);
  if (spans) {
    args.Put(RecordOf(call));
  }
  for (const Check& check : call.checks) {
    if (IsAsked(check)) {
      PutCheckKeys(args, check);
    }
  }
  PutGuardKeys(args, call);
  PutTime(args, judged);
  args.Put(call.peek ? "peek" : call.atomicity == store::Atomicity::kAll ? "all" : "each");
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    if (IsAsked(check)) {
      PutCheck(args, check, judged, call.answers[i].hold);
    }
  }
  if (guards > 0) {
    PutGuards(args, call, guards);
  }
  return script;
}

bool IsPossible(const store::Receipt& receipt) {
  constexpr std::int64_t kLatestNs = std::int64_t{8'000'000'000} * 1'000'000'000;
  return receipt.nonce != 0 && receipt.charged_at_ns >= 0 && receipt.charged_at_ns < kLatestNs;
}

void AppendRefund(const store::RefundCall& call, const Judged& judged, std::string& out) {
  Args args(out, 3 + KeysOf(call.key) + 7);
  PutRefund(args, call.key, call.quota, call.units, judged);
}

void AppendSettle(const store::SettleCall& call, const Judged& judged, std::string& out) {
  Args args(out, 3 + KeysOf(call.key) + 1 + 11);
  BeginScript(args, ScriptId::kSettle, KeysOf(call.key) + 1);
  args.PutKeys(call.key, call.quota);
  args.PutMark(call);
  PutTime(args, judged);
  args.Put(ScriptOf(ScriptFor(call.quota.algorithm)).name);
  args.Put(call.charged);
  args.Put(call.units);
  PutQuota(args, call.quota, judged, 0);
  const std::int64_t charged = InUs(call.receipt.charged_at_ns);
  const std::int64_t counts_until = UsedUntilUs(call.quota, charged);
  args.Put(charged);
  args.Put(counts_until);
  args.Put(call.open_for == Duration{} ? counts_until : charged + InUs(call.open_for.count()));
}

void AppendRelease(const store::HoldCall& call, bool renew, const Judged& judged,
                   std::string& out) {
  AppendReleaseOf(call.key, call.quota, call.hold, renew, judged, out);
}

void AppendReset(const store::ResetCall& call, std::string& out) {
  Args args(out, 1 + 3 * KeysOf(call.key));
  args.Put("DEL");
  args.PutKeys(call.key, call.quota);
  PutAllBanKeys(args, call.key);
}

void AppendBan(const store::BanCall& call, const Judged& judged, std::string& out) {
  Args args(out, 3 + 2 + 3);
  BeginScript(args, ScriptId::kBan, 2);
  args.PutBanKeys(call.key.rule, call.key);
  PutTime(args, judged);
  args.Put(InUs(call.duration.count()));
  args.PutAttributesOfBan(call.key);
}

void AppendUnban(const store::BanCall& call, const Judged& judged, std::string& out) {
  const std::size_t keys = 2 * KeysOf(call.key);
  Args args(out, 3 + keys + 2);
  BeginScript(args, ScriptId::kBan, keys);
  PutAllBanKeys(args, call.key);
  PutTime(args, judged);
  args.Put("");
}

void AppendBanPage(const BanPage& page, const Judged& judged, std::string& out) {
  Args args(out, 3 + 2);
  BeginScript(args, ScriptId::kBanList, 0);
  PutTime(args, judged);
  args.Put(page.begin);
}

void AppendRecord(const store::RecordCall& call, const Judged& judged, std::string& out) {
  using Verb = store::RecordCall::Verb;
  Args args(out, 3 + 1 + 6);
  BeginScript(args, ScriptId::kRecord, 1);
  args.Put("sl1:{" + call.name + "}:answer");
  PutTime(args, judged);
  args.Put(call.verb == Verb::kClaim ? "claim" : call.verb == Verb::kKeep ? "keep" : "drop");
  std::array<char, 16> owner;  // NOLINT: to_chars writes it.
  args.Put(std::string_view(
      owner.data(),
      static_cast<std::size_t>(
          std::to_chars(owner.data(), owner.data() + owner.size(), call.owner, 16).ptr -
          owner.data())));
  args.Put(call.body);
  args.Put(InUs(call.lasts.count()));
  args.Put(call.verb == Verb::kKeep ? std::string_view(call.answer) : std::string_view());
}

void AppendScriptLoad(ScriptId script, std::string& out) {
  Args args(out, 3);
  args.Put("SCRIPT");
  args.Put("LOAD");
  args.Put(ScriptOf(script).text);
}

bool AppendUndo(const store::CheckCall& call, std::size_t i, const Judged& judged,
                std::string& out) {
  const Check& check = call.checks[i];
  if (check.quota.algorithm == Algorithm::kConcurrency) {
    AppendReleaseOf(check.key, check.quota, call.answers[i].hold, false, judged, out);
    return false;
  }
  Args args(out, 3 + KeysOf(check.key) + 7 + 2);
  PutRefund(args, check.key, check.quota, check.cost.units, judged);
  return true;
}

void AppendReceipt(std::int64_t charged_us, std::int64_t ends_us, std::string& out) {
  Args args(out);
  args.Put(charged_us);
  args.Put(ends_us);
}

void AppendSpanUndo(const store::CheckCall& call, const Judged& judged, std::string& out) {
  const auto asked = static_cast<std::size_t>(std::ranges::count_if(call.checks, IsAsked));
  Args args(out, 3 + 1 + asked + 1 + 6 * asked);
  BeginScript(args, ScriptId::kSpanUndo, 1 + asked);
  args.Put(RecordOf(call));
  for (const Check& check : call.checks) {
    if (IsAsked(check)) {
      args.PutKey(check.key.rule, check.key, check.quota);
    }
  }
  PutTime(args, judged);
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    if (IsAsked(check)) {
      args.Put(ScriptOf(ScriptFor(check.quota.algorithm)).name);
      args.Put(check.cost.units);
      PutQuota(args, check.quota, judged, call.answers[i].hold);
    }
  }
}

}  // namespace sluice::redis
