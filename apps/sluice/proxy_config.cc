#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config_fields.h"
#include "config_map.h"
#include "listener_config.h"
#include "rules/ip_address.h"
#include "rules/value_reader.h"

namespace sluice::app {

namespace {

using frontend::http::kLimitDialects;
using frontend::http::ProxySettings;
using rules::Reporter;

constexpr std::array<std::string_view, 2> kPathWords{"as_sent", "strict"};

void ReadTrusted(const yaml::Node& list, Reporter& report, std::vector<rules::IpPrefix>& trusted) {
  trusted.clear();
  EachItem(list, "trusted", report, [&](const yaml::Node& item) {
    const auto text = rules::ReadText(item, "trusted", report);
    const auto prefix = text ? rules::IpPrefix::Parse(*text) : std::nullopt;
    if (text && !prefix) {
      report.Fail(item, "`" + *text + "` is not an address or address block: write 10.0.0.0/8");
    } else if (prefix && prefix->HasHostBits()) {
      report.Fail(item, "`" + *text + "` has host bits set: write " +
                            std::string(rules::IpPrefix{prefix->network.Masked(prefix->length),
                                                        prefix->length}
                                            .Text()
                                            .view()));
    } else if (prefix) {
      if (prefix->length == 0) {
        report.Warn(item,
                    "trusted: " + *text +
                        " is every address, so each client that reaches this listener may say "
                        "who it is: list your proxies only");
      }
      trusted.push_back(*prefix);
    }
  });
}

// The attributes that come from header fields.
void ReadHeaders(const yaml::Node& map, std::string_view name, Reporter& report,
                 std::vector<std::pair<std::string, std::string>>& headers) {
  if (!map.is_map()) {
    report.Fail(
        map, std::string(name) + " must be a map: " + std::string(name) + ": {user_id: X-User-Id}");
    return;
  }
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const std::string& attribute = map.key(i).text;
    const auto field = rules::ReadText(map.value(i), attribute, report);
    if (std::ranges::find(frontend::http::kProxiedAttributes, attribute) !=
        frontend::http::kProxiedAttributes.end()) {
      report.Fail(map.key(i), attribute + " is set for every request: choose another attribute");
    } else if (field && field->empty()) {
      report.Fail(map.value(i), "the name of the header is missing");
    } else if (field) {
      headers.emplace_back(attribute, *field);
    }
  }
}

// `as_sent`, `strict`, or what else `strict` has: {fold_case: true}.
void ReadPaths(const yaml::Node& node, Reporter& report, wire::PathSettings& paths) {
  if (!node.is_map()) {
    paths.strict = rules::ReadWord(node, "paths", kPathWords, report).value_or(0) == 1;
    return;
  }
  paths.strict = true;
  const auto read_fold_case = [&](const yaml::Node& value) {
    paths.fold_case = rules::ReadBool(value, "fold_case", report).value_or(false);
  };
  const auto read_encoded_slash = [&](const yaml::Node& value) {
    ReadEnum(value, kProxyPathsMap["encoded_slash"], report, paths.encoded_slash);
  };
  const auto fields = std::to_array<FieldReader>(
      {{"fold_case", read_fold_case}, {"encoded_slash", read_encoded_slash}});
  ReadFields(node, kProxyPathsMap, fields, report);
}

// An attribute is made of one field.
void RejectTwice(const yaml::Node& node, const ProxySettings& proxy, Reporter& report) {
  for (const auto& [attribute, field] : proxy.trusted_headers) {
    if (std::ranges::any_of(proxy.headers,
                            [&](const auto& other) { return other.first == attribute; })) {
      report.Fail(node, attribute + " is in headers and in trusted_headers: remove one");
    }
  }
}

}  // namespace

void ReadProxy(const yaml::Node& node, Reporter& report, ProxySettings& proxy) {
  const auto read_trusted = [&](const yaml::Node& value) {
    ReadTrusted(value, report, proxy.forwarding.trusted);
  };
  const auto read_client_address = [&](const yaml::Node& value) {
    const auto name = rules::ReadText(value, "client_address", report);
    if (name && name->empty()) {
      report.Fail(value, "client_address is empty: write X-Forwarded-For");
    } else if (name) {
      proxy.forwarding.header = *name;
    }
  };
  const auto read_request_fields = [&](const yaml::Node& value) {
    ReadEnum(value, kProxyMap["request_fields"], report, proxy.request_fields);
  };
  const auto read_cors = [&](const yaml::Node& value) {
    EachItem(value, "cors", report, [&](const yaml::Node& item) {
      if (const auto origin = rules::ReadText(item, "cors", report)) {
        proxy.cors_origins.push_back(*origin);
      }
    });
  };
  const auto fields = std::to_array<FieldReader>(
      {{"trusted", read_trusted},
       {"client_address", read_client_address},
       {"request_fields", read_request_fields},
       {"headers",
        [&](const yaml::Node& value) { ReadHeaders(value, "headers", report, proxy.headers); }},
       {"trusted_headers",
        [&](const yaml::Node& value) {
          ReadHeaders(value, "trusted_headers", report, proxy.trusted_headers);
        }},
       {"paths", [&](const yaml::Node& value) { ReadPaths(value, report, proxy.paths); }},
       {"cors", read_cors}});
  ReadFields(node, kProxyMap, fields, report);
  RejectTwice(node, proxy, report);
}

std::uint8_t ReadLimitHeaders(const yaml::Node& list, Reporter& report) {
  const ConfigField& field = kListenerMap["limit_headers"];
  std::uint8_t groups = frontend::http::kNoLimitFields;
  EachItem(list, "limit_headers", report, [&](const yaml::Node& item) {
    if (const auto word = ReadWord(item, field, report)) {
      groups |= kLimitDialects[*word].fields;
    }
  });
  return groups;
}

}  // namespace sluice::app
