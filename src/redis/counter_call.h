#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "redis/request.h"
#include "store/key_store.h"

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

struct CounterVerb {
  using Call = CounterCall;
  static std::optional<ScriptId> Append(Call& call, const Judged& judged, std::string& out);
  static Outcome Read(Reply reply, Call& call);
  // A counter that is so high that it cannot be added to is above every limit.
  static bool ReadError(std::string_view error, Call& call);
  // The EXPIRE behind an INCRBY, whatever that says: both are sent or neither is.
  static bool AppendFollower(const Call& call, std::int64_t jitter_s, std::string& out);
  static const void* Whole(const Call& call) { return call.request; }
  static std::uint16_t Place(Call& call);
};

}  // namespace sluice::redis
