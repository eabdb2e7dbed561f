#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "redis/ban_page.h"
#include "redis/command_args.h"
#include "redis/scripts.h"
#include "redis/secret_call.h"
#include "store/answer_records.h"
#include "store/key_store.h"

namespace sluice::redis {

// Whether a receipt may be one of the shared store's at all; then it fits 53 bits.
[[nodiscard]] bool IsPossible(const store::Receipt& receipt);

// Each appends one command to `out`, as it goes over the wire. Any bytes may be in keys. Checks
// have a file of their own: check_command.h.

void AppendRefund(const store::RefundCall& call, const Judged& judged, std::string& out);
// A call whose receipt IsPossible().
void AppendSettle(const store::SettleCall& call, const Judged& judged, std::string& out);
void AppendRelease(const store::HoldCall& call, bool renew, const Judged& judged, std::string& out);
void AppendReset(const store::ResetCall& call, const Judged& judged, std::string& out);
void AppendBan(const store::BanCall& call, const Judged& judged, std::string& out);
void AppendUnban(const store::BanCall& call, const Judged& judged, std::string& out);
void AppendBanPage(const BanPage& page, const Judged& judged, std::string& out);
void AppendRecord(const store::RecordCall& call, const Judged& judged, std::string& out);
void AppendSecret(const SecretCall& call, std::string& out);
void AppendScriptLoad(ScriptId script, std::string& out);

// What takes back check `i` of a call that was sent, should it turn out to have been charged
// after its sender got another answer: a clamped refund, or the release of its hold. True: it is
// complete only with AppendReceipt().
[[nodiscard]] bool AppendUndo(const store::CheckCall& call, std::size_t i, const Judged& judged,
                              std::string& out);
void AppendReceipt(std::int64_t charged_us, std::int64_t ends_us, std::string& out);

}  // namespace sluice::redis
