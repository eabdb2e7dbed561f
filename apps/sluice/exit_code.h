#pragma once

#include <cstdint>

namespace sluice::app {

// What a subcommand ends with, so that scripts can tell. 2 is also what a wrong command line
// gives.
enum ExitCode : std::uint8_t {
  kExitOk = 0,     // Allowed; valid; done.
  kExitNo = 1,     // Denied; invalid.
  kExitError = 2,  // It could not be found out.
};

}  // namespace sluice::app
