#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/time.h"

#include "redis/ban_page.h"
#include "redis/scripts.h"
#include "store/answer_records.h"
#include "store/key_store.h"

namespace sluice::redis {

// By which clock a call is judged.
struct Judged {
  bool by_server = true;  // Redis's own TIME; else `now`: then its keys get no expiry.
  WallInstant now{};      // by_server: a guess, to know which calendar periods to send along.
};

// Whether one check has to be asked of Redis; what is unlimited and cannot be banned has not.
[[nodiscard]] inline bool IsAsked(const store::Check& check) {
  return !check.quota.unlimited || check.ban != nullptr;
}

// Whether a receipt may be one of ours at all; then it fits 53 bits.
[[nodiscard]] bool IsPossible(const store::Receipt& receipt);

// Each appends one command to `out`, as it goes over the wire. Any bytes may be in keys.

// A call with at least one check that IsAsked(); with a request id, all of one slot: then the
// script records what it charged, for AppendSpanUndo(). Names the holds that it may be granted in
// its answers; ReadCheckReply() takes those back that were not. Returns the script that it runs.
ScriptId AppendCheck(store::CheckCall& call, const Judged& judged, std::string& out);
void AppendRefund(const store::RefundCall& call, const Judged& judged, std::string& out);
// A call whose receipt IsPossible().
void AppendSettle(const store::SettleCall& call, const Judged& judged, std::string& out);
void AppendRelease(const store::HoldCall& call, bool renew, const Judged& judged, std::string& out);
void AppendReset(const store::ResetCall& call, std::string& out);
void AppendBan(const store::BanCall& call, const Judged& judged, std::string& out);
void AppendUnban(const store::BanCall& call, const Judged& judged, std::string& out);
void AppendBanPage(const BanPage& page, const Judged& judged, std::string& out);
void AppendRecord(const store::RecordCall& call, const Judged& judged, std::string& out);
void AppendScriptLoad(ScriptId script, std::string& out);

// What takes back check `i` of a call that was sent, should it turn out to have been charged
// after its sender got another answer: a clamped refund, or the release of its hold. True: it is
// complete only with AppendReceipt().
[[nodiscard]] bool AppendUndo(const store::CheckCall& call, std::size_t i, const Judged& judged,
                              std::string& out);
void AppendReceipt(std::int64_t charged_us, std::int64_t ends_us, std::string& out);

// What takes back all that a call with a request id charged, once, however often it is sent and
// whether it comes before the call or after.
void AppendSpanUndo(const store::CheckCall& call, const Judged& judged, std::string& out);

}  // namespace sluice::redis
