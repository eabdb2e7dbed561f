#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"
#include "doctor/gather.h"

namespace sluice::app::doctor {

// What was looked at and what was found, by severity, for people. Texts are safe for a terminal.
[[nodiscard]] std::string ReportText(const Gathered& gathered, const FindingList& findings);

// The same as one JSON object:
//   {"looked_at": [{"what": …, "found": …}], "skipped": [{"what": …, "why": …}],
//    "failed": [{"what": …, "why": …}], "findings": [{"check": …, "severity": "problem" | "warning"
//    | "note", "seen": …, "follows": …,
//      "remedy": …, "file": …, "line": 4, "column": 5}]}
[[nodiscard]] std::string ReportJson(const Gathered& gathered, const FindingList& findings);

}  // namespace sluice::app::doctor
