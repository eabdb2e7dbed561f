#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "service/verdict.h"

namespace sluice::replay {

// The line that a check or peek prints, newline included, added to `out`. Every time is in
// nanoseconds; null stands for a number that there is not: the limit of an unlimited rule,
// the time until never.
void AppendAnswer(std::string& out, WallInstant at, const service::Verdict& verdict);

// {"line": 7, "error": "..."}. `line` counts from 1.
void AppendBadLine(std::string& out, std::int64_t line, std::string_view error);

}  // namespace sluice::replay
