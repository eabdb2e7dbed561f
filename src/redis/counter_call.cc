#include "redis/counter_call.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "redis/slot_map.h"
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

void AppendAll(std::initializer_list<std::string_view> args, std::string& out) {
  wire::AppendRespCommand(std::span(args.begin(), args.size()), out);
}

}  // namespace

std::optional<ScriptId> CounterVerb::Append(Call& call, const Judged& /*judged*/,
                                            std::string& out) {
  switch (call.verb) {
    case CounterCall::Verb::kAdd:
      AppendAll({"INCRBY", call.key, std::to_string(call.hits)}, out);
      break;
    case CounterCall::Verb::kRead:
      AppendAll({"GET", call.key}, out);
      break;
    case CounterCall::Verb::kTakeBack:
      AppendAll({"EVAL", kTakeBack, "1", call.key, std::to_string(call.hits)}, out);
      break;
    case CounterCall::Verb::kDrop:
      AppendAll({"DEL", call.key}, out);
      break;
  }
  return std::nullopt;
}

bool CounterVerb::AppendFollower(const Call& call, std::int64_t jitter_s, std::string& out) {
  if (call.verb != CounterCall::Verb::kAdd) {
    return false;
  }
  AppendAll({"EXPIRE", call.key, std::to_string(call.expiry_s + jitter_s)}, out);
  return true;
}

Outcome CounterVerb::Read(Reply reply, Call& call) {
  constexpr std::string_view kNoNumber = "a counter's value is not a number";
  const wire::RespNode& node = reply[0];
  std::int64_t count = node.integer;
  if (node.type == wire::RespType::kBulk && call.verb == CounterCall::Verb::kRead) {
    const char* const end = node.text.data() + node.text.size();
    const auto [at, error] = std::from_chars(node.text.data(), end, count);
    if (error != std::errc() || at != end) {
      return Outcome::Malformed(kNoNumber);
    }
  } else if (node.type == wire::RespType::kNull && call.verb == CounterCall::Verb::kRead) {
    count = 0;
  } else if (node.type != wire::RespType::kInteger) {
    return Outcome::Malformed(kNoNumber);
  }
  call.count = std::clamp(count, -CounterCall::kMostCount, CounterCall::kMostCount);
  return Outcome::Answered();
}

bool CounterVerb::ReadError(std::string_view error, Call& call) {
  if (error.find("would overflow") == std::string_view::npos) {
    return false;
  }
  call.count = CounterCall::kMostCount;
  return true;
}

std::uint16_t CounterVerb::Place(Call& call) {
  return SlotOfKey(call.key);
}

}  // namespace sluice::redis
