#pragma once

#include <cstdint>
#include <string>

#include "json_answer.h"

// What /v1/ratelimit/why answers, as text for people.
namespace sluice::app {

// The verdict in one sentence: "denied by api_rate: 150 of 150 used; passes in 12.3 s (at
// 14:03:12.512 UTC)".
[[nodiscard]] std::string WhySentence(const JsonAnswer& answer);

// Why a rule of the answer denies: "150 of 150 used; passes in …". `now`: Unix milliseconds.
[[nodiscard]] std::string DenialText(const JsonAnswer& rule, std::int64_t now);

// The sentence, what is to be done, the state of every key, and every rule that applies or does
// not. Whole lines.
[[nodiscard]] std::string TellWhy(const JsonAnswer& answer);

}  // namespace sluice::app
