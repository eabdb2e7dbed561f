#pragma once

#include <cstdint>
#include <string>

#include "sluice/decision.h"

#include "store/key_store.h"
#include "wire/resp_reply_parser.h"

namespace sluice::redis {

// One question about one counter of envoyproxy/ratelimit, by the commands of that service: its key
// is any text, its value a decimal number. No script has a part in it, so that old nodes and new
// ones count together.
class CounterCall : public store::StoreCall {
 public:
  enum class Verb : std::uint8_t {
    kAdd,       // INCRBY, and EXPIRE after it, for hits of 0 too.
    kRead,      // GET
    kTakeBack,  // Less by `hits`, never below 0; a counter that is not there stays so.
    kDrop,      // DEL
  };
  // In.
  Verb verb = Verb::kAdd;
  std::string key;
  Units hits = 0;
  std::int64_t expiry_s = 0;  // kAdd: from now on, without what the channel adds at random.
  // Whose it is: counters of one request that get no answer are one failure.
  const void* request = nullptr;
  // Out. kAdd: with the hits; kRead: as it is, 0 where there is none. At most kMostCount.
  std::int64_t count = 0;

  // Above every limit, and far from where numbers end.
  static constexpr std::int64_t kMostCount = 4 * kMaxUnits;
};

// Appends what is sent, but for the EXPIRE.
void AppendCounter(const CounterCall& call, std::string& out);
void AppendExpiry(const CounterCall& call, std::int64_t extra_s, std::string& out);

// Turns the reply into the call's count. False if it is none.
[[nodiscard]] bool ReadCount(const wire::RespNode& reply, CounterCall& call);

// Whether this error says that the counter is so high that it cannot be added to.
[[nodiscard]] bool SaysTooHigh(std::string_view error);

}  // namespace sluice::redis
