#pragma once

#include <string>

#include "net/http_client.h"

namespace sluice::app {

// Sends `call` to the daemon at `server` (a URL) and prints the answer, as text or as its JSON.
// Returns the exit code: kExitOk if allowed, kExitNo if denied, kExitError with a message on stderr
// without an answer.
[[nodiscard]] int AskDaemon(const std::string& server, const net::HttpCall& call, bool json);

}  // namespace sluice::app
