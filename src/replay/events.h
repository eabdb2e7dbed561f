#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "service/verdict.h"

namespace sluice::replay {

struct EventsOptions {
  std::string rules_file;       // Other files that events name are relative to its folder.
  std::uint64_t keys = 65'536;  // The number of keys in the table.
};

// Runs the events of `in`, one JSON object per line (event.h), through the daemon's engine, with
// the events' own clock: the table starts at the first event's time and follows the timestamps.
// Lines run in file order.
//
// `out` gets one line for each check and peek, and one for each line that is not an event or
// requests something impossible: such a line changes nothing, not even the clock, and the run
// continues. It also continues if a `rules` event names an invalid file: the active rules stay.
// Blank lines are skipped. `err` gets the problems of the first rule file, warnings, and a warning
// if the table was too small for exact results.
//
// Returns the exit code: 0, or 1 if the first rules are invalid or `out` could not be written.
[[nodiscard]] int RunEvents(const EventsOptions& options, std::istream& in, std::ostream& out,
                            std::ostream& err);

// Appends the line of a check or peek to `out`, with a line feed. All times are in nanoseconds.
// null means that there is no number: the limit of an unlimited rule, or a wait that never ends.
void AppendAnswer(std::string& out, WallInstant at, const service::Verdict& verdict);

// {"line": 7, "error": "..."}. `line` counts from 1.
void AppendBadLine(std::string& out, std::int64_t line, std::string_view error);

}  // namespace sluice::replay
