#pragma once

#include <string>

// Answers of a daemon as text for people: each takes the answer's JSON and gives whole
// lines. What is no such answer is given as it is.
namespace sluice::app {

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
