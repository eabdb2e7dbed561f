#pragma once

#include <cstdint>
#include <string>

#include "sluice/result.h"

namespace sluice::app {

// A daemon's JSON answer to a check or a status.
struct AnswerText {
  bool allowed = false;
  std::string text;  // For a person: a verdict line and one line per limit.
};

// `now`: Unix seconds, to say when a limit resets. Errors: not the JSON of an answer.
[[nodiscard]] Result<AnswerText> TellAnswer(const std::string& body, std::int64_t now);

// What a problem+json says, or the text itself if it is none.
[[nodiscard]] std::string TellProblem(int status, const std::string& body);

// Whether a listener that is asked for a path which it does not serve answers so.
[[nodiscard]] bool IsNotServed(int status, const std::string& body);

// Answers to operators: each takes the answer's JSON and gives whole lines. What is no such answer
// is given as it is.
[[nodiscard]] std::string TellMode(const std::string& answer);
[[nodiscard]] std::string TellKillSwitch(const std::string& answer);
[[nodiscard]] std::string TellReset(const std::string& answer);
[[nodiscard]] std::string TellRefund(const std::string& answer);
[[nodiscard]] std::string TellUnban(const std::string& answer);
[[nodiscard]] std::string TellRelease(const std::string& answer);
[[nodiscard]] std::string TellBans(const std::string& answer);
// Of /rlusage: a line for each limit.
[[nodiscard]] std::string TellUsage(const std::string& answer);

}  // namespace sluice::app
