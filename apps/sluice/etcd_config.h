#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sluice/result.h"

#include "rules/findings.h"
#include "sources/etcd_rules.h"
#include "yaml/tree.h"

namespace sluice::app {

// An etcd cluster that rules come from.
struct EtcdConfig {
  std::vector<std::string> endpoints;  // HOST:PORT
  std::string prefix = "/ratelimit/rules/";
  bool uses_tls = false;
  std::string ca;    // PEM files, "": the system's certificates.
  std::string cert;  // Of this client; with its key, or "".
  std::string key;
  std::string username;  // "": etcd requires no user.
  std::string password_file;
};

// Reads the `etcd` of a rule source. Relative paths begin at `folder`. Reads the files that it
// names, to report what is wrong with them.
[[nodiscard]] EtcdConfig ReadEtcd(const yaml::Node& node, const std::filesystem::path& folder,
                                  rules::Reporter& report);

// What a source is made with. Errors: a file of TLS does not load.
[[nodiscard]] Result<sources::EtcdSettings> SettingsOf(const EtcdConfig& etcd);

}  // namespace sluice::app
