#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

namespace sluice::app::doctor {

enum class Severity : std::uint8_t {
  kProblem,  // Requests are judged wrongly now, or not at all.
  kWarning,  // They will be, or this cannot be what was meant.
  kNote,     // Right if it is meant. Alone it leaves the exit code 0.
};

[[nodiscard]] std::string_view NameOf(Severity severity);

// One thing that is wrong or risky. The three texts are whole sentences without their period.
struct Finding {
  std::string_view check;  // The heading in docs/doctor.md that explains it: "cost-above-limit".
  Severity severity = Severity::kWarning;
  std::string seen;     // What was seen, with its numbers.
  std::string follows;  // What follows from that.
  std::string remedy;   // A command, or a line of a configuration, or both.
  Place place{};        // Where it is written, if anywhere.
};

using FindingList = std::vector<Finding>;

// The finding as `sluice validate` prints it.
[[nodiscard]] Error ErrorOf(const Finding& finding);

}  // namespace sluice::app::doctor
