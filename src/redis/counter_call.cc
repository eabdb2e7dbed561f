#include "redis/counter_call.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "wire/resp_writer.h"

namespace sluice::redis {

namespace {

// Sent whole each time: hits that are taken back are rare, and a proxy before Redis may know EVAL
// and not SCRIPT LOAD. Numbers stay below 2^53.
constexpr std::string_view kTakeBack =
    "if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end "
    "local left = redis.call('DECRBY', KEYS[1], ARGV[1]) "
    "if left < 0 then redis.call('INCRBY', KEYS[1], -left) left = 0 end "
    "return left";

void Append(std::initializer_list<std::string_view> args, std::string& out) {
  wire::AppendRespCommand(std::span(args.begin(), args.size()), out);
}

}  // namespace

void AppendCounter(const CounterCall& call, std::string& out) {
  switch (call.verb) {
    case CounterCall::Verb::kAdd:
      Append({"INCRBY", call.key, std::to_string(call.hits)}, out);
      break;
    case CounterCall::Verb::kRead:
      Append({"GET", call.key}, out);
      break;
    case CounterCall::Verb::kTakeBack:
      Append({"EVAL", kTakeBack, "1", call.key, std::to_string(call.hits)}, out);
      break;
    case CounterCall::Verb::kDrop:
      Append({"DEL", call.key}, out);
      break;
  }
}

void AppendExpiry(const CounterCall& call, std::int64_t extra_s, std::string& out) {
  Append({"EXPIRE", call.key, std::to_string(call.expiry_s + extra_s)}, out);
}

bool ReadCount(const wire::RespNode& reply, CounterCall& call) {
  std::int64_t count = reply.integer;
  if (reply.type == wire::RespType::kBulk && call.verb == CounterCall::Verb::kRead) {
    const char* const begin = reply.text.data();
    const char* const end = begin + reply.text.size();
    const auto [at, error] = std::from_chars(begin, end, count);
    if (error != std::errc() || at != end) {
      return false;
    }
  } else if (reply.type == wire::RespType::kNull && call.verb == CounterCall::Verb::kRead) {
    count = 0;
  } else if (reply.type != wire::RespType::kInteger) {
    return false;
  }
  call.count = std::clamp(count, -CounterCall::kMostCount, CounterCall::kMostCount);
  return true;
}

bool SaysTooHigh(std::string_view error) {
  return error.find("would overflow") != std::string_view::npos;
}

}  // namespace sluice::redis
