#pragma once

#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "core/quota.h"
#include "frontend/resp/commands.h"

namespace sluice::frontend::resp {

// The numbers of a CL.THROTTLE.
struct ThrottleNumbers {
  core::Quota quota;
  Cost cost;
};

// Reads CL.THROTTLE key max_burst count period [quantity]: 5 or 6 arguments with the name. Returns
// what is wrong, "" if nothing; then the numbers are in the range of service::ThrottleCall.
[[nodiscard]] std::string ReadThrottle(Args args, ThrottleNumbers& numbers);

void RunThrottle(Args args, Connection& connection);

}  // namespace sluice::frontend::resp
