// A client of Sluice: C++17, POSIX sockets, nothing else.
//
//   sluice_client::Client client;  // http://127.0.0.1:8080
//   const auto decision = client.Check({{"user_id", "u_42"}, {"endpoint", "/charges"}});
//   if (!decision) { std::cerr << decision.Why() << '\n'; }
//
// `clients/cpp/single_header FILE` writes all of it as one header.
#pragma once

#include "sluice_client/advise.h"    // What to do with a response of a server that limits rates.
#include "sluice_client/client.h"    // Check, acquire, reserve, hold.
#include "sluice_client/throttle.h"  // Your own HTTP calls, within the limits that servers show.
