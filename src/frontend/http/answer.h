#pragma once

#include <string>

#include "service/verdict.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

// A verdict as JSON. Field names and meanings are a contract with every client:
//
//   {"allowed": true, "remaining": 87, "reset_at": 1714473660, "limits": [
//     {"name": "api_rate", "allowed": true, "limit": 150, "remaining": 87,
//      "reset_at": 1714473660}]}
//
// The numbers at the top are the governing rule's. A denied verdict also has retry_after (seconds,
// at least 1) and retry_after_ms; a denied limit has its reason and its own retry_after_ms; null
// where it can never pass or the time is unknown. An unlimited rule's limit, remaining and reset_at
// are null, and so are the numbers at the top where no rule with a limit applies. `holds` is
// present if a concurrency rule applied, and empty if it granted none: a denial, a peek, a decision
// without the store. Further members only where they say something: wait_ms (shaping), waited (the
// daemon has waited already), shadow, degraded, receipt, reservation.
namespace sluice::frontend::http {

// `keys` seal the tokens in the answer. None: no holds, receipts or reservations.
struct AnswerOptions {
  bool waited = false;       // The answer was held back for the verdict's whole wait.
  bool receipt = false;      // With the token that a refund must name.
  bool reservation = false;  // With the token that a settlement must name.
  const signing::Keyring* keys = nullptr;
};

// The status of the reply to a check: 200, or what the reason that governs says; 400 where the
// request was wrong.
[[nodiscard]] int StatusOf(const service::Verdict& verdict);

// Appends the body of an answer to a check or a status. Times are rounded up.
void AppendAnswer(const service::Verdict& verdict, const AnswerOptions& options,
                  std::string& answer);

}  // namespace sluice::frontend::http
