#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "sluice/time.h"

#include "frontend/access_token.h"
#include "frontend/answer_counts.h"
#include "frontend/answer_log.h"
#include "wire/resp_command_parser.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::frontend::resp {

// The bounds of one listener. Each stands between a client that means ill, or is only slow,
// and the memory and file descriptors of all others.
struct FrontEndSettings {
  std::string name;  // Of the listener, in records: its address.
  LoopAnswers* answers =
      nullptr;               // Where answers are counted, if anywhere. Outlives the front end.
  AnswerLog* log = nullptr;  // Logs refusals of requests. Outlives the front end.
  const AccessToken* password = nullptr;  // That AUTH asks for; none. Outlives the front end.
  // By which holds, receipts and reservations are sealed. None: none are given out or taken.
  const signing::Keyring* keys = nullptr;
  bool clients_have_certificates = false;  // Of TLS, each one.
  std::string version{};                   // Of the program, for HELLO and INFO.
  wire::RespLimits command{};
  // For clients that have not authenticated yet, if a password is required.
  wire::RespLimits unauthenticated{.arguments = 16, .command_bytes = 4 * 1024};
  int failed_logins = 10;                 // After so many the connection ends.
  std::size_t pipeline = 1024;            // Commands of one connection without an answer yet.
  std::size_t output_bytes = 256 * 1024;  // Answers of one connection not written yet.
  Duration login_timeout = std::chrono::seconds(10);    // For a client to authenticate.
  Duration command_timeout = std::chrono::seconds(20);  // From a command's first byte to its last.
  Duration idle_timeout = std::chrono::hours(1);  // Between commands: pools keep connections long.
  Duration write_timeout = std::chrono::seconds(20);  // For a client to take its answers.
  Duration linger = std::chrono::seconds(1);          // After the last answer, for its end.
  // A client that does not know yet that we stop may be about to send its next command.
  Duration drain_grace = std::chrono::milliseconds(500);
};

}  // namespace sluice::frontend::resp
