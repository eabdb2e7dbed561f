#pragma once

#include <string>
#include <vector>

#include "doctor/facts.h"

namespace sluice::app::doctor {

// What the command line names.
struct Sources {
  std::string configuration;  // A file; "": none.
  std::string server;         // The URL of an admin listener; "": the configuration's.
  std::string token_file;     // Has the listener's token; "": the configuration's.
  std::string nginx;          // A file of NGINX; "": none.
  bool offline = false;       // No daemon and no Redis is asked.
};

// One thing that was looked at, or that was not.
struct Look {
  std::string what;   // "the configuration sluice.yaml".
  std::string found;  // "3 rules"; why it was not looked at.
};

struct Gathered {
  Facts facts;
  std::vector<Look> looked_at;
  std::vector<Look> skipped;  // Not asked for, or not there.
  std::vector<Look> failed;   // Asked for, and not readable.
};

// Reads all that `sources` name. What cannot be read is listed in `failed`, and the rest is read
// all the same. Every step that may wait has a timeout of some seconds.
[[nodiscard]] Gathered Gather(const Sources& sources);

// Asks the daemon whose admin listener is at `server` (a URL), with `token` as its bearer token
// ("": none). Never fails: what is wrong is in the facts. Waits for some seconds at most.
[[nodiscard]] DaemonFacts AskForFacts(const std::string& server, const std::string& token,
                                      WallInstant now);

// Asks a Redis server for its clock and its settings. Waits for some seconds at most.
[[nodiscard]] RedisFacts AskRedis(const RedisConfig& config, const net::DialTarget& target);

// Looks at this host; with a configuration, also at its ports and the folder of its table.
[[nodiscard]] HostFacts LookAtHost(const ConfigurationFacts* configuration);

}  // namespace sluice::app::doctor
