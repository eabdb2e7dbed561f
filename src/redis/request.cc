#include "redis/request.h"

#include <algorithm>

namespace sluice::redis {

using wire::RespType;

bool AreIntegers(Reply reply) {
  return reply.size() >= 2 && reply[0].type == RespType::kArray &&
         reply.size() == reply[0].size + 1 &&
         std::ranges::all_of(reply.subspan(1), [](const wire::RespNode& node) {
           return node.type == RespType::kInteger;
         });
}

bool IsTime(const wire::RespNode& node) {
  return node.type == RespType::kInteger && node.integer >= 0 && node.integer < kLongestUs;
}

WallInstant InstantOf(const wire::RespNode& node) {
  return WallInstant(Duration(node.integer * 1000));
}

bool ReadTime(Reply reply, WallInstant& now) {
  if (!AreIntegers(reply) || !IsTime(reply[1])) {
    return false;
  }
  now = InstantOf(reply[1]);
  return true;
}

}  // namespace sluice::redis
