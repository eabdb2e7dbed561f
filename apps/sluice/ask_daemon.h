#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "net/http_client.h"

// What commands that ask a running daemon have in common.
namespace sluice::app {

// Sends `call` to the daemon at `server` (a URL) and prints the answer to a check or a status, as
// text or as its JSON. Returns the exit code: kExitOk if allowed, kExitNo if denied, kExitError
// with a message on stderr without an answer.
[[nodiscard]] int AskDaemon(const std::string& server, const net::HttpCall& call, bool json);

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

// The same, but prints what `tell` makes of the answer, one of answer_text.h; with options.json the
// answer itself.
[[nodiscard]] int AskAdmin(const AdminOptions& options, const net::HttpCall& call,
                           std::string (*tell)(const std::string& answer));

// Prints what is left of the limits that Envoy's descriptor with the entries `words` (key=value)
// has in `domain`.
[[nodiscard]] int AskEnvoyUsage(const AdminOptions& options, const std::string& domain,
                                const std::vector<std::string>& words);

}  // namespace sluice::app
