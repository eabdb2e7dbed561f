#pragma once

#include <cstdint>
#include <string>

#include "json_answer.h"

namespace sluice::app {

// A decision of the past, an item of /v1/ratelimit/decisions, as text: when and where it was made,
// what it was in one sentence, and a line for each rule. `now`: Unix milliseconds.
[[nodiscard]] std::string TellRecordedDecision(const JsonAnswer& request, std::int64_t now);

}  // namespace sluice::app
