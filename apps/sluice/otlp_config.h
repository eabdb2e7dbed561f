#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/time.h"

#include "net/dial.h"
#include "otlp/exporter.h"
#include "rules/findings.h"
#include "store_config.h"
#include "yaml/tree.h"

namespace sluice::app {

// What `otlp: {...}` says: where metrics and traces are sent.
struct OtlpConfig {
  net::DialTarget server;
  std::string path;                    // Of the endpoint, without a slash at the end.
  std::optional<ClientTlsConfig> tls;  // None: the endpoint is http.
  Duration interval = std::chrono::seconds(15);
  Duration timeout = std::chrono::seconds(10);
  bool gzip = true;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string token_file;  // "": no token is sent.
  bool traces = true;
  std::string service_name = "sluice";
  std::vector<std::pair<std::string, std::string>> attributes;  // Of the resource.
};

// Reads `otlp`. What is wrong is reported with place and remedy; files are read to say here what is
// wrong with them. Paths are relative to `folder`.
[[nodiscard]] OtlpConfig ReadOtlp(const yaml::Node& node, const std::filesystem::path& folder,
                                  rules::Reporter& report);

// `instance`: what distinguishes this process from others of the service, if the configuration
// does not say it.
[[nodiscard]] otlp::ExporterSettings SettingsOf(const OtlpConfig& config,
                                                const std::string& instance);

}  // namespace sluice::app
