#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/time.h"

#include "redis/ban_page.h"
#include "redis/secret_call.h"
#include "store/answer_records.h"
#include "store/key_store.h"
#include "wire/resp_reply_parser.h"

namespace sluice::redis {

using Reply = std::span<const wire::RespNode>;

// kAgain: the calendar's edges that were sent are not those of the server's time, which `now`
// then holds; nothing was done. kMalformed: no reply of the script that was asked.
enum class CheckReply : std::uint8_t { kAnswered, kAgain, kMalformed };

// Turns the reply to AppendCheck() into the call's answers and its `now`.
[[nodiscard]] CheckReply ReadCheckReply(Reply reply, store::CheckCall& call);

// The answer to a check that is not asked of Redis.
[[nodiscard]] store::CheckAnswer UnlimitedAnswer(const store::Check& check);

// How many keys the denials of this request have banned; of an answered call.
[[nodiscard]] std::uint64_t BansIn(Reply reply, const store::CheckCall& call);

// Appends to the page's bans and moves it on to the next. False: no reply of that script.
[[nodiscard]] bool ReadBanPage(Reply reply, BanPage& page);

// What a claim found. False: no reply of that script.
[[nodiscard]] bool ReadRecord(Reply reply, store::RecordCall& call);

// False: it is none.
[[nodiscard]] bool ReadSecret(Reply reply, SecretCall& call);

// Of a call that is gone: a check that was charged, by its number among those that were asked,
// when, and by when that stops counting anyway. Microseconds by the server's clock.
struct LateCharge {
  std::size_t check = 0;
  std::int64_t charged_us = 0;
  std::int64_t ends_us = 0;
};
[[nodiscard]] std::vector<LateCharge> ChargedIn(Reply reply);

// The first number of a script's reply: the server's time. False if there is none.
[[nodiscard]] bool ReadTime(Reply reply, WallInstant& now);

}  // namespace sluice::redis
