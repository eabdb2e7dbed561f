#include "etcd_config.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "config_fields.h"
#include "config_map.h"
#include "net/dial.h"
#include "rules/value_reader.h"
#include "sources/files.h"
#include "store_config.h"

namespace sluice::app {

namespace {

using rules::Reporter;

constexpr std::string_view kDefaultPort = "2379";

// "http://host:2379", "https://host:2379" or "host:2379", which goes by whether there is `tls`.
void ReadEndpoint(const yaml::Node& node, Reporter& report, EtcdConfig& etcd,
                  std::optional<bool>& scheme) {
  const auto text = rules::ReadText(node, "endpoints", report);
  if (!text) {
    return;
  }
  std::string_view rest = *text;
  std::optional<bool> secure;
  for (const std::string_view known : {"http://", "https://"}) {
    if (rest.starts_with(known)) {
      rest.remove_prefix(known.size());
      secure = known == "https://";
    }
  }
  if (rest.ends_with('/')) {
    rest.remove_suffix(1);
  }
  const auto target = net::ParseDialTarget(rest, kDefaultPort);
  if (rest.empty() || rest.find('/') != std::string_view::npos || !target) {
    report.Fail(node, "endpoints: " + *text + " is not an endpoint: write http://HOST:2379");
  } else if (secure && scheme && secure != scheme) {
    report.Fail(node,
                "endpoints: some are https and some http: use one of them for the whole cluster");
  } else {
    scheme = secure ? secure : scheme;
    etcd.endpoints.push_back(target->Text());
  }
}

}  // namespace

EtcdConfig ReadEtcd(const yaml::Node& node, const std::filesystem::path& folder, Reporter& report) {
  EtcdConfig etcd;
  std::optional<bool> scheme;
  const auto path_into = [&](std::string_view field, std::string& into) {
    return FieldReader{field, [&, field](const yaml::Node& value) {
                         const auto text = rules::ReadText(value, field, report);
                         if (text && !text->empty()) {
                           into = (folder / *text).string();
                         }
                       }};
  };
  bool has_tls = false;
  const auto read_endpoints = [&](const yaml::Node& value) {
    EachItem(value, "endpoints", report,
             [&](const yaml::Node& item) { ReadEndpoint(item, report, etcd, scheme); });
  };
  const auto read_prefix = [&](const yaml::Node& value) {
    etcd.prefix = rules::ReadText(value, "prefix", report).value_or("");
    if (etcd.prefix.empty()) {
      report.Fail(value, "prefix is empty: every key of the cluster would be a rule");
    }
  };
  const auto read_tls = [&](const yaml::Node& value) {
    has_tls = true;
    const auto fields = std::to_array<FieldReader>(
        {path_into("ca", etcd.ca), path_into("cert", etcd.cert), path_into("key", etcd.key)});
    ReadFields(value, kEtcdTlsMap, fields, report);
  };
  const auto read_username = [&](const yaml::Node& value) {
    etcd.username = rules::ReadText(value, "username", report).value_or("");
  };
  const auto read_auth = [&](const yaml::Node& value) {
    const auto fields = std::to_array<FieldReader>(
        {{"username", read_username}, path_into("password_file", etcd.password_file)});
    ReadFields(value, kEtcdAuthMap, fields, report);
    if (etcd.username.empty() || etcd.password_file.empty()) {
      report.Fail(value, "auth needs a username and a password_file");
    } else if (const auto password = sources::ReadFile(etcd.password_file); !password) {
      report.Fail(value, password.error().Text());
    }
  };
  const auto fields = std::to_array<FieldReader>({{"endpoints", read_endpoints},
                                                  {"prefix", read_prefix},
                                                  {"tls", read_tls},
                                                  {"auth", read_auth}});
  ReadFields(node, kEtcdMap, fields, report);
  if (etcd.endpoints.empty()) {
    report.Fail(node, "etcd needs endpoints: write endpoints: [http://127.0.0.1:2379]");
  }
  etcd.uses_tls = scheme.value_or(has_tls);
  if (has_tls && !etcd.uses_tls) {
    report.Fail(node, "etcd has tls, but its endpoints are http: write https://");
  }
  if (etcd.uses_tls) {
    if (const auto loaded = SettingsOf(etcd); !loaded) {
      report.Fail(node, loaded.error().Text());
    }
  }
  return etcd;
}

Result<sources::EtcdSettings> SettingsOf(const EtcdConfig& etcd) {
  sources::EtcdSettings settings{
      .prefix = etcd.prefix, .username = etcd.username, .password_file = etcd.password_file};
  for (const std::string& endpoint : etcd.endpoints) {
    if (auto target = net::ParseDialTarget(endpoint, kDefaultPort); target) {
      settings.endpoints.push_back(*std::move(target));
    }
  }
  if (etcd.uses_tls) {
    auto tls = LoadClientTls({.ca = etcd.ca, .cert = etcd.cert, .key = etcd.key, .server_name = {}},
                             {"http/1.1"});
    if (!tls) {
      return tl::unexpected(tls.error());
    }
    settings.tls = *std::move(tls);
  }
  return settings;
}

}  // namespace sluice::app
