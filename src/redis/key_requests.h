#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "redis/request.h"
#include "store/answer_records.h"
#include "store/key_store.h"

// The requests about one key, or one record: every verb of a store but checks and lists. Any bytes
// may be in keys.
namespace sluice::redis {

// Whether a receipt may be one of the shared store's at all; then it fits 53 bits.
[[nodiscard]] bool IsPossible(const store::Receipt& receipt);

// Where a key lies in a cluster. One without attributes loses its former ids: they lie elsewhere.
[[nodiscard]] std::uint16_t PlaceOfKey(core::KeyView& key);

// What most of them have: the reply is the server's time.
template <class CallType>
struct KeyVerb {
  using Call = CallType;
  static std::uint16_t Place(Call& call) { return PlaceOfKey(call.key); }
  static Outcome Read(Reply reply, Call& call) {
    return ReadTime(reply, call.now) ? Outcome::Answered() : Outcome::Malformed();
  }
};

struct RefundVerb : KeyVerb<store::RefundCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
};
struct ResetVerb : KeyVerb<store::ResetCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
};
struct ReleaseVerb : KeyVerb<store::HoldCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
};
struct RenewVerb : KeyVerb<store::HoldCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
};
// Of a call whose receipt IsPossible().
struct SettleVerb : KeyVerb<store::SettleCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
};
struct BanVerb : KeyVerb<store::BanCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
};
struct UnbanVerb : KeyVerb<store::BanCall> {
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
};
struct RecordVerb {
  using Call = store::RecordCall;
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
  static std::uint16_t Place(Call& call);
};

// The parts of a command that takes back a charge: a refund but for when it was charged and when
// that stops counting, which AppendReceipt() adds; and the release of a hold.
void PutRefund(CommandArgs& args, const core::KeyView& key, const core::Quota& quota, Units units,
               const Judged& judged);
void AppendReceipt(std::int64_t charged_us, std::int64_t ends_us, std::string& out);
void AppendRelease(const core::KeyView& key, const core::Quota& quota, store::HoldId hold,
                   const Judged& judged, std::string& out);

}  // namespace sluice::redis
