#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "sluice/time.h"

#include "net/dial.h"
#include "net/tls_context.h"

namespace sluice::sources {

struct EtcdSettings {
  std::vector<net::DialTarget> endpoints{};      // Any of them will do; not empty.
  std::string prefix = "/ratelimit/rules/";      // A rule's key is this and its id.
  std::shared_ptr<const net::TlsContext> tls{};  // nullptr: none.
  std::string username{};                        // "": etcd asks for nobody.
  std::string password_file{};  // Read at every login, so that passwords can be changed.
  Duration timeout = std::chrono::seconds(5);                // Of one call.
  Duration audit_interval = std::chrono::seconds(10);        // Between looks behind the watch.
  Duration shortest_pause = std::chrono::milliseconds(100);  // Before a new attempt; doubles
  Duration longest_pause = std::chrono::seconds(2);          // up to this.
  Duration settle = std::chrono::milliseconds(20);           // So many changes are one.
};

}  // namespace sluice::sources
