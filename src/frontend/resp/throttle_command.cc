#include <chrono>
#include <cstdint>

#include "core/key.h"
#include "frontend/resp/commands.h"
#include "frontend/resp/connection.h"
#include "frontend/resp/replies.h"
#include "wire/ascii.h"

namespace sluice::frontend::resp {

namespace {

constexpr std::int64_t kLongestPeriod =
    std::chrono::duration_cast<std::chrono::seconds>(core::kLongestHorizon).count();

bool ReadWithin(std::string_view text, std::int64_t least, std::int64_t most,
                std::int64_t& number) {
  return wire::ReadRespNumber(text, number) && number >= least && number <= most;
}

std::string OutOfRange(std::string_view what, std::int64_t least, std::int64_t most) {
  return std::string(what) + " must be a whole number from " + std::to_string(least) + " to " +
         std::to_string(most);
}

}  // namespace

std::string ReadThrottle(Args args, ThrottleNumbers& numbers) {
  if (args[1].size() > core::kMaxValueBytes) {
    return "the key may have at most " + std::to_string(core::kMaxValueBytes) + " bytes";
  }
  std::int64_t burst = 0;
  std::int64_t period = 0;
  core::Quota& quota = numbers.quota;
  quota.algorithm = core::Algorithm::kThrottle;
  // A burst of b on top of the one that is always there: b + 1 at once.
  if (!ReadWithin(args[2], 0, kMaxUnits - 1, burst)) {
    return OutOfRange("max_burst", 0, kMaxUnits - 1);
  }
  if (!ReadWithin(args[3], 1, kMaxUnits, quota.rate)) {
    return OutOfRange("count", 1, kMaxUnits);
  }
  if (!ReadWithin(args[4], 1, kLongestPeriod, period)) {
    return OutOfRange("period", 1, kLongestPeriod) + " seconds";
  }
  if (args.size() > 5 && !ReadWithin(args[5], 0, kMaxUnits, numbers.cost.units)) {
    return OutOfRange("quantity", 0, kMaxUnits);
  }
  quota.limit = burst + 1;
  quota.window = std::chrono::seconds(period);
  if (auto fault = core::FaultOf(quota)) {
    return *std::move(fault);
  }
  return {};
}

void RunThrottle(Args args, Connection& connection) {
  if (args.size() > 6) {
    connection.Reply().Error("ERR", "wrong number of arguments for 'cl.throttle' command");
    return;
  }
  ThrottleNumbers numbers;
  if (const std::string fault = ReadThrottle(args, numbers); !fault.empty()) {
    connection.Reply().Error("ERR", fault);
    return;
  }
  Exchange& exchange = connection.TakeExchange();
  service::Operation& operation = exchange.operation;
  operation.Ask<service::ThrottleCheck>().Set(operation.arena.Keep(args[1]), numbers.quota,
                                              numbers.cost);
  connection.Ask(exchange, [](Exchange& asked, std::string& out) {
    AppendThrottleReply(asked.operation.Get<service::ThrottleCheck>().decision(), out);
  });
}

}  // namespace sluice::frontend::resp
