#pragma once

#include <string>
#include <string_view>

#include "command.h"
#include "net/http_client.h"

namespace sluice::app {

// Where an operator's command connects, and how it prints the answer.
struct AdminOptions {
  std::string server;
  bool json = false;
  // The message if the listener does not serve the path; "": the listener's own message.
  std::string_view if_not_served{};
};

// --server and --json of an operator's command.
void AddAdminOptions(CLI::App& command, AdminOptions& options);

// Sends `call` to the admin listener at `server` (a URL) and stores the answer in `body`. Returns
// the exit code: kExitOk, or kExitError with a message on stderr if it was refused or not
// reachable.
[[nodiscard]] int AskAdmin(const std::string& server, const net::HttpCall& call, std::string& body);

// The same, but prints what `tell` makes of the answer, one of admin_text.h; with options.json the
// answer itself.
[[nodiscard]] int AskAdmin(const AdminOptions& options, const net::HttpCall& call,
                           std::string (*tell)(const std::string& answer));

}  // namespace sluice::app
