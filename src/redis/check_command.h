#pragma once

#include <string>

#include "redis/command_args.h"
#include "redis/scripts.h"
#include "store/key_store.h"

namespace sluice::redis {

// Whether one check has to be asked of Redis; what is unlimited and cannot be banned has not.
[[nodiscard]] inline bool IsAsked(const store::Check& check) {
  return !check.quota.unlimited || check.ban != nullptr;
}

// Appends a call with at least one check that IsAsked(), as it goes over the wire; with a request
// id, all of one slot: then the script records what it charged, for AppendSpanUndo(). Names the
// holds that it may be granted in its answers; ReadCheckReply() takes those back that were not.
// Returns the script that it runs.
ScriptId AppendCheck(store::CheckCall& call, const Judged& judged, std::string& out);

// Appends what takes back all that a call with a request id charged, once, however often it is
// sent and whether it comes before the call or after.
void AppendSpanUndo(const store::CheckCall& call, const Judged& judged, std::string& out);

}  // namespace sluice::redis
