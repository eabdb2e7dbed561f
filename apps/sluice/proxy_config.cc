#include "proxy_config.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config_fields.h"
#include "rules/ip_address.h"
#include "rules/value_reader.h"

namespace sluice::app {

namespace {

using frontend::http::LimitDialects;
using frontend::http::ProxySettings;
using rules::Reporter;
using rules::YamlNode;

constexpr std::array<std::string_view, 5> kProxyFields{"trusted", "client_address",
                                                       "request_fields", "headers", "cors"};
constexpr std::array<std::string_view, 3> kRequestFields{"either", "x-original", "x-forwarded"};
constexpr std::array<std::string_view, 4> kDialects{"x-ratelimit", "draft-10", "github", "none"};

void ReadTrusted(const YamlNode& list, Reporter& report, std::vector<rules::IpPrefix>& trusted) {
  trusted.clear();
  EachItem(list, "trusted", report, [&](const YamlNode& item) {
    const auto text = rules::ReadText(item, "trusted", report);
    const auto prefix = text ? rules::IpPrefix::Parse(*text) : std::nullopt;
    if (text && !prefix) {
      report.Fail(item, "`" + *text + "` is no address or block of addresses: write 10.0.0.0/8");
    } else if (prefix && prefix->HasHostBits()) {
      report.Fail(item, "`" + *text + "` has bits set behind its length: write " +
                            std::string(rules::IpPrefix{prefix->network.Masked(prefix->length),
                                                        prefix->length}
                                            .Text()
                                            .view()));
    } else if (prefix) {
      trusted.push_back(*prefix);
    }
  });
}

// The attributes that come from header fields.
void ReadHeaders(const YamlNode& map, Reporter& report, ProxySettings& proxy) {
  if (!map.is_map()) {
    report.Fail(map, "headers must be a map: headers: {user_id: X-User-Id}");
    return;
  }
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const std::string& attribute = map.key(i).text;
    const auto field = rules::ReadText(map.value(i), attribute, report);
    if (std::ranges::find(frontend::http::kToldAttributes, attribute) !=
        frontend::http::kToldAttributes.end()) {
      report.Fail(map.key(i), attribute + " is told of every request: name another attribute");
    } else if (field && field->empty()) {
      report.Fail(map.value(i), "the header has no name");
    } else if (field) {
      proxy.headers.emplace_back(attribute, *field);
    }
  }
}

}  // namespace

void ReadProxy(const YamlNode& node, Reporter& report, ProxySettings& proxy) {
  EachField(node, "proxy", kProxyFields, report,
            [&](std::string_view field, const YamlNode& value) {
              if (field == "trusted") {
                ReadTrusted(value, report, proxy.forwarding.trusted);
              } else if (field == "client_address") {
                const auto name = rules::ReadText(value, field, report);
                if (name && name->empty()) {
                  report.Fail(value, "client_address names no header: write X-Forwarded-For");
                } else if (name) {
                  proxy.forwarding.header = *name;
                }
              } else if (field == "request_fields") {
                proxy.request_fields = static_cast<frontend::http::RequestFields>(
                    rules::ReadWord(value, field, kRequestFields, report).value_or(0));
              } else if (field == "headers") {
                ReadHeaders(value, report, proxy);
              } else {
                EachItem(value, field, report, [&](const YamlNode& item) {
                  if (const auto origin = rules::ReadText(item, field, report)) {
                    proxy.cors_origins.push_back(*origin);
                  }
                });
              }
            });
}

LimitDialects ReadLimitHeaders(const YamlNode& list, Reporter& report) {
  LimitDialects dialects{.x_ratelimit = false, .draft_10 = false};
  EachItem(list, "limit_headers", report, [&](const YamlNode& item) {
    const auto word = rules::ReadWord(item, "limit_headers", kDialects, report);
    if (!word) {
      return;
    }
    const std::string_view dialect = kDialects[*word];
    dialects.x_ratelimit = dialects.x_ratelimit || dialect == "x-ratelimit";
    dialects.draft_10 = dialects.draft_10 || dialect == "draft-10";
    dialects.github = dialects.github || dialect == "github";
  });
  return dialects;
}

}  // namespace sluice::app
