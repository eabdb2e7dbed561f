#pragma once

#include <string>

#include "net/http_client.h"

namespace sluice::app {

// Sends `call` to the daemon at `server` (a URL) and prints what it answers: for a person, or
// its own JSON. Returns the exit code: kExitOk where it allows, kExitNo where it denies,
// kExitError, said on stderr, where there is no answer.
[[nodiscard]] int AskDaemon(const std::string& server, const net::HttpCall& call, bool json);

}  // namespace sluice::app
