#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

// What a connection remembers from command to command.
struct Session {
  std::uint64_t id = 0;
  wire::RespVersion version = wire::RespVersion::k2;
  bool authenticated = false;  // Or no password is asked for.
  bool on_this_host = false;   // Came over a loopback address.
  int failed_logins = 0;
  std::string name;
};

// Whether `address` ("127.0.0.1", "::1") is one of this host's own, that no other can send from.
[[nodiscard]] inline bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace sluice::frontend::resp
