#pragma once

#include <string>

#include "net/http_client.h"

namespace sluice::app {

// Sends `call` to the admin listener at `server` (a URL) and prints what it answers. Returns the
// exit code: kExitOk; kExitError, said on stderr, where it was refused or not reached.
[[nodiscard]] int AskAdmin(const std::string& server, const net::HttpCall& call);
// The same, but what it answers goes to `body`.
[[nodiscard]] int AskAdmin(const std::string& server, const net::HttpCall& call, std::string& body);

}  // namespace sluice::app
