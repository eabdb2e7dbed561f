#pragma once

#include <cstdint>
#include <string>

#include "sluice/decision.h"

#include "service/verdict.h"
#include "wire/resp_writer.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::frontend::resp {

// `keys` seal the tokens in the answer. None: no holds, receipts or reservations.
struct VerdictOptions {
  bool receipt = false;
  bool reservation = false;
  const signing::Keyring* keys = nullptr;
};

// A verdict as a map: the members that its JSON has (frontend/http/answer.h), in that order, under
// those names. Requires no request_error.
void AppendVerdict(const service::Verdict& verdict, const VerdictOptions& options,
                   wire::RespWriter& writer);

// A wait in the seconds of redis-cell: a part below a millisecond is cut off, then whatever is left
// above whole seconds makes one more. -1 for what never ends or is not known.
[[nodiscard]] std::int64_t ThrottleSeconds(Duration wait);

// The five integers of CL.THROTTLE: 0 allowed or 1 limited; the limit; what remains; seconds until
// it may be tried again, -1 where allowed or never; seconds until the key is fresh. A key that
// could not be judged, because the table is full or the store unavailable, is an error reply and
// does not count as limited.
void AppendThrottleReply(const Decision& decision, std::string& out);

}  // namespace sluice::frontend::resp
