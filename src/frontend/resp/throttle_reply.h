#pragma once

#include <cstdint>
#include <string>

#include "sluice/decision.h"

namespace sluice::frontend::resp {

// A wait in the seconds of redis-cell: a part below a millisecond is cut off, then whatever is left
// above whole seconds makes one more. -1 for what never ends or is not known.
[[nodiscard]] std::int64_t ThrottleSeconds(Duration wait);

// The five integers of CL.THROTTLE: 0 allowed or 1 limited; the limit; what remains; seconds until
// it may be tried again, -1 where allowed or never; seconds until the key is fresh. A key that
// could not be judged for want of room or of the store is an error reply, and not taken for
// limited.
void AppendThrottleReply(const Decision& decision, std::string& out);

}  // namespace sluice::frontend::resp
