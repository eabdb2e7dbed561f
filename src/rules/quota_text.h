#pragma once

#include <string>

#include "core/quota.h"

namespace sluice::rules {

// A quota's numbers in words, as for `sluice explain`: "100 per 1m, at most 20 at once",
// "10 at the same time, hold_ttl 30s", "5 per day", "unlimited".
[[nodiscard]] std::string QuotaText(const core::Quota& quota);

}  // namespace sluice::rules
