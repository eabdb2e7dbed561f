#pragma once

#include <string>

#include "insight/kept_request.h"

// A kept request as one JSON object, the same in the decision log and in the list of the last
// decisions. It is a contract with `sluice replay`, which reads "time", "cost" and "attributes":
//
//   {"time": "2025-12-17T09:03:01.123456789Z", "request_id": "…", "listener": "127.0.0.1:8080",
//    "judged_by": "rules", "allowed": false, "cost": 1, "attributes": {"user_id": "u_42"},
//    "decisions": [{"rule": "api_rate", "key": {"user_id": "u_42"}, "outcome": "denied",
//      "limit": 150, "remaining": 0, "cost": 1, "charged": false, "reason": "quota_exceeded",
//      "retry_after_ms": 26412, "reset_after_ms": 60000}]}
//
// judged_by is rules, throttle (CL.THROTTLE) or envoy. limit and remaining are null if the rule
// limits nothing, retry_after_ms if waiting cannot help or the time is unknown. shadow, degraded,
// banned and lease are there if they are true; attributes only if they were kept.
namespace sluice::records {

void AppendDecision(const insight::KeptRequest& request, std::string& out);

// "2025-12-17T09:03:01.123456789Z". From 1970 to the end of the year 9999.
[[nodiscard]] std::string TimeText(WallInstant at);

}  // namespace sluice::records
