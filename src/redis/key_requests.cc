#include "redis/key_requests.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "redis/key_name.h"
#include "redis/slot_map.h"

namespace sluice::redis {

namespace {

using core::Quota;
using store::StoreError;

// When what was charged at `charged` stops counting anyway: a refund comes too late then.
std::int64_t UsedUntilUs(const Quota& quota, std::int64_t charged) {
  const WallInstant then{std::chrono::microseconds(charged)};
  return charged + InUs(core::CountsFor(quota, then).count());
}

// What must be known of a reset lies beside the key. No value can have the "#", which is escaped
// there.
constexpr std::string_view kResetSuffix = "#reset";

// The reply to what may find nothing: whether it did.
Outcome ReadFound(Reply reply, store::StoreCall& call) {
  if (!ReadTime(reply, call.now)) {
    return Outcome::Malformed();
  }
  const bool found = reply.size() == 3 && reply[2].integer == 1;
  return Outcome::Answered(found ? StoreError::kNone : StoreError::kNotFound);
}

// Where the settlement of a charge is remembered: beside the key, in the same slot. No value can
// have the "#", which is escaped there.
void PutMark(CommandArgs& args, const store::SettleCall& call) {
  args.PutKey(call.key.rule, call.key, call.quota, "#settled:" + IdText(call.receipt));
}

}  // namespace

bool IsPossible(const store::Receipt& receipt) {
  constexpr std::int64_t kLatestNs = std::int64_t{8'000'000'000} * 1'000'000'000;
  return receipt.nonce != 0 && receipt.store_id == store::kSharedStoreId &&
         receipt.charged_at_ns >= 0 && receipt.charged_at_ns < kLatestNs;
}

std::uint16_t PlaceOfKey(core::KeyView& key) {
  if (key.parts.empty()) {
    key.formerly = {};
  }
  return SlotOf(key.rule, key);
}

void PutRefund(CommandArgs& args, const core::KeyView& key, const Quota& quota, Units units,
               const Judged& judged) {
  args.BeginScript(ScriptId::kRefund, KeysOf(key));
  args.PutKeys(key, quota);
  args.PutTime(judged);
  args.PutFragment(quota.algorithm);
  args.Put(units);
  args.PutQuota(quota, judged, 0);
}

void AppendReceipt(std::int64_t charged_us, std::int64_t ends_us, std::string& out) {
  CommandArgs args(out);
  args.Put(charged_us);
  args.Put(ends_us);
}

void AppendRelease(const core::KeyView& key, const Quota& quota, store::HoldId hold,
                   const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + KeysOf(key) + 2);
  args.BeginScript(ScriptId::kRelease, KeysOf(key));
  args.PutKeys(key, quota);
  args.PutTime(judged);
  args.PutId(hold);
}

std::optional<ScriptId> RefundVerb::Append(Call& call, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + KeysOf(call.key) + 7);
  PutRefund(args, call.key, call.quota, call.units, judged);
  return ScriptId::kRefund;
}

std::optional<ScriptId> SettleVerb::Append(Call& call, const Judged& judged, std::string& out) {
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
  args.Put(charged);
  args.Put(UsedUntilUs(call.quota, charged));
  if (call.open_for == Duration{}) {
    args.Put("");
  } else {
    args.Put(charged + InUs(std::min(call.open_for, core::kLongestHorizon).count()));
  }
  return ScriptId::kSettle;
}

Outcome SettleVerb::Read(Reply reply, Call& call) {
  if (!ReadTime(reply, call.now)) {
    return Outcome::Malformed();
  }
  const std::int64_t settled = reply.size() == 3 ? reply[2].integer : -1;
  call.settled = std::max<std::int64_t>(settled, 0);
  return Outcome::Answered(settled < 0 ? StoreError::kNotFound : StoreError::kNone);
}

std::optional<ScriptId> ReleaseVerb::Append(Call& call, const Judged& judged, std::string& out) {
  AppendRelease(call.key, call.quota, call.hold, judged, out);
  return ScriptId::kRelease;
}

Outcome ReleaseVerb::Read(Reply reply, Call& call) {
  return ReadFound(reply, call);
}

std::optional<ScriptId> RenewVerb::Append(Call& call, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + KeysOf(call.key) + 3);
  args.BeginScript(ScriptId::kRelease, KeysOf(call.key));
  args.PutKeys(call.key, call.quota);
  args.PutTime(judged);
  args.PutId(call.hold);
  args.Put(InUs(call.quota.window.count()));
  return ScriptId::kRelease;
}

Outcome RenewVerb::Read(Reply reply, Call& call) {
  return ReadFound(reply, call);
}

std::optional<ScriptId> ResetVerb::Append(Call& call, const Judged& judged, std::string& out) {
  const std::size_t keys = 1 + 3 * KeysOf(call.key);
  CommandArgs args(out, 3 + keys + 2);
  args.BeginScript(ScriptId::kReset, keys);
  args.PutKey(call.key.rule, call.key, call.quota, kResetSuffix);
  args.PutKeys(call.key, call.quota);
  args.PutAllBanKeys(call.key);
  args.PutTime(judged);
  args.Put(InUs(std::min(call.remembered_for(), core::kLongestHorizon).count()));
  return ScriptId::kReset;
}

std::optional<ScriptId> BanVerb::Append(Call& call, const Judged& judged, std::string& out) {
  CommandArgs args(out, 3 + 2 + 3);
  args.BeginScript(ScriptId::kBan, 2);
  args.PutBanKeys(call.key.rule, call.key);
  args.PutTime(judged);
  args.Put(InUs(call.duration.count()));
  args.PutAttributesOfBan(call.key);
  return ScriptId::kBan;
}

std::optional<ScriptId> UnbanVerb::Append(Call& call, const Judged& judged, std::string& out) {
  const std::size_t keys = 2 * KeysOf(call.key);
  CommandArgs args(out, 3 + keys + 2);
  args.BeginScript(ScriptId::kBan, keys);
  args.PutAllBanKeys(call.key);
  args.PutTime(judged);
  args.Put("");
  return ScriptId::kBan;
}

Outcome UnbanVerb::Read(Reply reply, Call& call) {
  return ReadFound(reply, call);
}

std::optional<ScriptId> RecordVerb::Append(Call& call, const Judged& judged, std::string& out) {
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
  return ScriptId::kRecord;
}

Outcome RecordVerb::Read(Reply reply, Call& call) {
  constexpr auto kLast = static_cast<std::int64_t>(store::RecordCall::Found::kPending);
  if (reply.size() != 4 || reply[0].type != wire::RespType::kArray || reply[0].size != 3 ||
      !IsTime(reply[1]) || reply[2].type != wire::RespType::kInteger || reply[2].integer < 0 ||
      reply[2].integer > kLast || reply[3].type != wire::RespType::kBulk) {
    return Outcome::Malformed();
  }
  call.now = InstantOf(reply[1]);
  call.found = static_cast<store::RecordCall::Found>(reply[2].integer);
  call.answer = reply[3].text;
  return Outcome::Answered();
}

std::uint16_t RecordVerb::Place(Call& call) {
  return SlotOfTag(call.name);
}

}  // namespace sluice::redis
