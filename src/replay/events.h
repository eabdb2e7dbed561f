#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace sluice::replay {

struct EventsOptions {
  std::string rules_file;       // Where events name other files, they lie beside this one.
  std::uint64_t keys = 65'536;  // How many keys the table remembers at once.
};

// Runs the events of `in`, one JSON object a line (event.h), through the engine that the
// daemon runs, under the events' own clock: the table begins at the first event's stamp and
// goes on as the stamps do. Lines run in file order.
//
// `out` gets one line for each check and peek (answer_line.h), and one for each line that is
// no event or asks what is not possible: such a line changes nothing, the clock included,
// and the run goes on. So it does when a `rules` event names a file that does not load: the
// running rules stay. Blank lines are skipped. `err` gets what is wrong with the first rule
// file, warnings, and a warning if the table was too small to be exact.
//
// Returns the exit code: 0, or 1 if the run could not begin (the rules do not load) or
// `out` could not be written.
[[nodiscard]] int RunEvents(const EventsOptions& options, std::istream& in, std::ostream& out,
                            std::ostream& err);

}  // namespace sluice::replay
