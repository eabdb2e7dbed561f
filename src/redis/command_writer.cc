#include "redis/command_writer.h"

#include <algorithm>
#include <chrono>
#include <string_view>

namespace sluice::redis {

namespace {

using core::Quota;
using store::Check;

// When what was charged at `charged` stops counting anyway: a refund comes too late then.
std::int64_t UsedUntilUs(const Quota& quota, std::int64_t charged) {
  const WallInstant then{std::chrono::microseconds(charged)};
  return charged + InUs(core::CountsFor(quota, then).count());
}

// What must be known of a reset lies beside the key. No value can have the "#", which is escaped
// there.
constexpr std::string_view kResetSuffix = "#reset";

void PutRefund(CommandArgs& args, const core::KeyView& key, const Quota& quota, Units units,
               const Judged& judged) {
  args.BeginScript(ScriptId::kRefund, KeysOf(key));
  args.PutKeys(key, quota);
  args.PutTime(judged);
  args.PutFragment(quota.algorithm);
  args.Put(units);
  args.PutQuota(quota, judged, 0);
}

void AppendReleaseOf(const core::KeyView& key, const Quota& quota, store::HoldId hold, bool renew,
                     const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + KeysOf(key) + (renew ? 3 : 2));
  args.BeginScript(ScriptId::kRelease, KeysOf(key));
  args.PutKeys(key, quota);
  args.PutTime(judged);
  args.PutId(hold);
  if (renew) {
    args.Put(InUs(quota.window.count()));
  }
}

// Where the settlement of a charge is remembered: beside the key, in the same slot. No value can
// have the "#", which is escaped there.
void PutMark(CommandArgs& args, const store::SettleCall& call) {
  args.PutKey(call.key.rule, call.key, call.quota,
              "#settled:" + std::to_string(call.receipt.nonce) + ":" +
                  std::to_string(call.receipt.charged_at_ns));
}

}  // namespace

bool IsPossible(const store::Receipt& receipt) {
  constexpr std::int64_t kLatestNs = std::int64_t{8'000'000'000} * 1'000'000'000;
  return receipt.nonce != 0 && receipt.store_id == store::kSharedStoreId &&
         receipt.charged_at_ns >= 0 && receipt.charged_at_ns < kLatestNs;
}

void AppendRefund(const store::RefundCall& call, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + KeysOf(call.key) + 7);
  PutRefund(args, call.key, call.quota, call.units, judged);
}

void AppendSettle(const store::SettleCall& call, const Judged& judged, std::string& out) {
  const std::size_t keys = 2 * KeysOf(call.key) + 1;
  CommandArgs args(out, 3 + keys + 11);
  args.BeginScript(ScriptId::kSettle, keys);
  args.PutKeys(call.key, call.quota);
  args.PutKeys(call.key, call.quota, kResetSuffix);
  PutMark(args, call);
  args.PutTime(judged);
  args.PutFragment(call.quota.algorithm);
  args.Put(call.charged);
  args.Put(call.units);
  args.PutQuota(call.quota, judged, 0);
  const std::int64_t charged = InUs(call.receipt.charged_at_ns);
  const std::int64_t counts_until = UsedUntilUs(call.quota, charged);
  args.Put(charged);
  args.Put(counts_until);
  if (call.open_for == Duration{}) {
    args.Put("");
  } else {
    args.Put(charged + InUs(std::min(call.open_for, core::kLongestHorizon).count()));
  }
}

void AppendRelease(const store::HoldCall& call, bool renew, const Judged& judged,
                   std::string& out) {
  AppendReleaseOf(call.key, call.quota, call.hold, renew, judged, out);
}

void AppendReset(const store::ResetCall& call, const Judged& judged, std::string& out) {
  const std::size_t keys = 1 + 3 * KeysOf(call.key);
  CommandArgs args(out, 3 + keys + 2);
  args.BeginScript(ScriptId::kReset, keys);
  args.PutKey(call.key.rule, call.key, call.quota, kResetSuffix);
  args.PutKeys(call.key, call.quota);
  args.PutAllBanKeys(call.key);
  args.PutTime(judged);
  args.Put(InUs(std::min(call.remembered_for(), core::kLongestHorizon).count()));
}

void AppendBan(const store::BanCall& call, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + 2 + 3);
  args.BeginScript(ScriptId::kBan, 2);
  args.PutBanKeys(call.key.rule, call.key);
  args.PutTime(judged);
  args.Put(InUs(call.duration.count()));
  args.PutAttributesOfBan(call.key);
}

void AppendUnban(const store::BanCall& call, const Judged& judged, std::string& out) {
  const std::size_t keys = 2 * KeysOf(call.key);
  CommandArgs args(out, 3 + keys + 2);
  args.BeginScript(ScriptId::kBan, keys);
  args.PutAllBanKeys(call.key);
  args.PutTime(judged);
  args.Put("");
}

void AppendBanPage(const BanPage& page, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + 2);
  args.BeginScript(ScriptId::kBanList, 0);
  args.PutTime(judged);
  args.Put(page.begin);
}

void AppendRecord(const store::RecordCall& call, const Judged& judged, std::string& out) {
  using Verb = store::RecordCall::Verb;
  CommandArgs args(out, 3 + 1 + 6);
  args.BeginScript(ScriptId::kRecord, 1);
  args.Put("sl1:{" + call.name + "}:answer");
  args.PutTime(judged);
  args.Put(call.verb == Verb::kClaim ? "claim" : call.verb == Verb::kKeep ? "keep" : "drop");
  args.PutId(call.owner, 16);
  args.Put(call.body);
  args.Put(InUs(call.lasts.count()));
  args.Put(call.verb == Verb::kKeep ? std::string_view(call.answer) : std::string_view());
}

void AppendSecret(const SecretCall& call, std::string& out) {
  CommandArgs args(out, 3 + 1 + 1);
  args.BeginScript(ScriptId::kSecret, 1);
  args.Put(SecretCall::kKey);
  args.Put(call.offer);
}

void AppendScriptLoad(ScriptId script, std::string& out) {
  CommandArgs args(out, 3);
  args.Put("SCRIPT");
  args.Put("LOAD");
  args.Put(ScriptOf(script).text);
}

bool AppendUndo(const store::CheckCall& call, std::size_t i, const Judged& judged,
                std::string& out) {
  const Check& check = call.checks[i];
  if (core::HasHolds(check.quota.algorithm)) {
    AppendReleaseOf(check.key, check.quota, call.answers[i].hold, false, judged, out);
    return false;
  }
  // The mark of a reset is not asked for: while a slot moves, Redis runs nothing on two keys of
  // which one is not there, and this charge would stay.
  CommandArgs args(out, 3 + KeysOf(check.key) + 7 + 2);
  PutRefund(args, check.key, check.quota, check.cost.units, judged);
  return true;
}

void AppendReceipt(std::int64_t charged_us, std::int64_t ends_us, std::string& out) {
  CommandArgs args(out);
  args.Put(charged_us);
  args.Put(ends_us);
}

}  // namespace sluice::redis
