#pragma once

#include <cstdint>

namespace sluice::app {

// Exit codes of subcommands, for scripts. A wrong command line gives 2 too.
enum ExitCode : std::uint8_t {
  kExitOk = 0,     // Allowed; valid; done.
  kExitNo = 1,     // Denied; invalid.
  kExitError = 2,  // No result.
};

}  // namespace sluice::app
