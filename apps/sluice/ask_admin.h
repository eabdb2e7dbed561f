#pragma once

#include <string>
#include <string_view>

#include "command.h"
#include "net/http_client.h"

namespace sluice::app {

// Where an operator's command asks, and how it prints the answer.
struct AdminOptions {
  std::string server;
  bool json = false;
  // What it means that the listener does not serve the path; "": what the listener says of that.
  std::string_view if_not_served{};
};

// --server and --json of an operator's command.
void AddAdminOptions(CLI::App& command, AdminOptions& options);

// Sends `call` to the admin listener at `server` (a URL): what it answers goes to `body`. Returns
// the exit code: kExitOk; kExitError, said on stderr, where it was refused or not reached.
[[nodiscard]] int AskAdmin(const std::string& server, const net::HttpCall& call, std::string& body);

// The same, but prints what `tell` makes of the answer, one of admin_text.h; with options.json the
// answer itself.
[[nodiscard]] int AskAdmin(const AdminOptions& options, const net::HttpCall& call,
                           std::string (*tell)(const std::string& answer));

}  // namespace sluice::app
