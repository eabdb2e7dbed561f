#include "greeting.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "version.h"
#include "wire/json_writer.h"
#include "wire/url_encoding.h"

namespace sluice::app {

namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

std::string MadeUp(std::string_view attribute) {
  constexpr std::pair<std::string_view, std::string_view> kValues[] = {{"user_id", "u_42"},
                                                                       {"ip", "192.0.2.7"},
                                                                       {"endpoint", "/v1/charges"},
                                                                       {"method", "GET"},
                                                                       {"host", "api.example.com"}};
  const auto* const found =
      std::ranges::find(kValues, attribute, [](const auto& value) { return value.first; });
  return found == std::end(kValues) ? "x" : std::string(found->second);
}

Named RequestFor(const rules::Rule& rule, const rules::RuleSet& rules) {
  const rules::RuleSet::Needs needs = rules.NeedsOf(rule);
  Named request;
  const auto add = [&](const std::string& attribute, std::string value) {
    if (std::ranges::find(request, attribute, &Named::value_type::first) == request.end()) {
      request.emplace_back(attribute, std::move(value));
    }
  };
  for (const std::string& attribute : needs.match) {
    const auto texts = rules.TextsFor(rule, attribute);
    add(attribute, texts.empty() ? MadeUp(attribute) : texts.front().text);
  }
  for (const std::string& attribute : needs.key) {
    add(attribute, MadeUp(attribute));
  }
  for (const std::string& attribute : needs.cost) {
    add(attribute, "1");
  }
  return request;
}

bool Limits(const rules::Rule& rule, const Named& request, const rules::RuleSet& rules) {
  std::vector<Attribute> attributes;
  attributes.reserve(request.size());
  for (const auto& [name, value] : request) {
    attributes.push_back({.name = name, .value = value});
  }
  rules::Matches matches;
  return rules.Match(attributes, Cost{.units = 1}, {}, matches).has_value() &&
         std::ranges::any_of(matches.applied(), [&rule](const rules::AppliedRule& applied) {
           return applied.rule == &rule && !applied.key_missing;
         });
}

// Attributes of an example request for a daemon with these rules: the first rule for which a
// matching request can be constructed limits it. Example values: user_id=u_42, ip=192.0.2.7.
// Without such a rule, a user's request without limits.
Named FirstRequest(const rules::RuleSet& rules) {
  for (const rules::Rule& rule : rules.rules()) {
    Named request = RequestFor(rule, rules);
    if (rule.action == rules::Action::kLimit && !request.empty() && Limits(rule, request, rules)) {
      return request;
    }
  }
  return {{"user_id", "u_42"}};
}

// "3 from rules/api.yaml" per source, in order.
std::vector<std::pair<std::string_view, std::size_t>> CountBySource(const rules::RuleSet& rules) {
  std::vector<std::pair<std::string_view, std::size_t>> counts;
  for (const rules::Rule& rule : rules.rules()) {
    if (counts.empty() || counts.back().first != rule.source) {
      counts.emplace_back(rule.source, 0);
    }
    ++counts.back().second;
  }
  return counts;
}

// A check and a status of the same request, for curl.
std::string RequestsText(const std::string& url, const rules::RuleSet& rules) {
  std::string body;
  std::string query;
  wire::JsonWriter json(body);
  json.BeginObject();
  for (const auto& [name, value] : FirstRequest(rules)) {
    json.EscapedName(name).Text(value);
    query += query.empty() ? "?" : "&";
    wire::AppendPercentEncoded(query, name);
    query += '=';
    wire::AppendPercentEncoded(query, value);
  }
  json.EndObject();
  for (std::size_t at = 0; (at = body.find('\'', at)) != std::string::npos; at += 4) {
    body.replace(at, 1, "'\\''");  // Quoted for the shell.
  }
  return fmt::format(
      "  curl -i --json '{}' {}/v1/ratelimit/check\n  curl -s '{}/v1/ratelimit/status{}'\n", body,
      url, url, query);
}

// What an operator has set and may have forgotten.
std::string ModesText(const InForce& in_force) {
  std::string text;
  if (in_force.modes.all) {
    text += "  modes   the kill switch is on: every request is allowed, nothing is counted\n";
  }
  for (const rules::Rule& rule : in_force.rules.rules()) {
    const auto set = in_force.modes.by_rule.find(rule.id);
    if (set != in_force.modes.by_rule.end() && set->second != rule.mode) {
      text += fmt::format("  modes   {}: {}, set at run time (the rule says {})\n", rule.id,
                          rules::NameOf(set->second), rules::NameOf(rule.mode));
    }
  }
  return text;
}

}  // namespace

void Greet(const Server& server, const InForce& in_force) {
  const rules::RuleSet& rules = in_force.rules;
  using frontend::http::Role;
  std::string text = fmt::format("sluice {} is ready\n\n", kVersion);
  std::string check;
  std::string admin;
  std::string resp;
  for (const Server::OpenAddress& open : server.addresses()) {
    if (open.protocol == Protocol::kResp) {
      const std::string url = (open.tls ? "rediss://" : "redis://") + open.address;
      resp = resp.empty() ? url : resp;
      text += fmt::format("  resp    {}\n", url);
      continue;
    }
    if (open.protocol == Protocol::kGrpc) {
      text += fmt::format("  grpc    {}{}\n", open.address, open.tls ? " (TLS)" : "");
      continue;
    }
    if (open.role == Role::kMetrics) {
      text += fmt::format("  metrics {}://{}\n", open.tls ? "https" : "http", open.address);
      continue;
    }
    const bool is_check = open.role == Role::kCheck;
    std::string& first = is_check ? check : admin;
    const std::string url = (open.tls ? "https://" : "http://") + open.address;
    first = first.empty() ? url : first;
    text += fmt::format("  {:<7} {}\n", is_check ? "checks" : "admin", url);
    if (open.console) {
      text += fmt::format("  console {}/console/\n", url);
    }
  }
  text += fmt::format("  store   {}\n", in_force.store);
  if (!in_force.snapshot.empty()) {
    text += fmt::format("  state   {} (snapshots of the table)\n", in_force.snapshot);
  }
  if (!in_force.api_folder.empty()) {
    text += fmt::format("  state   {} (rules put over the API, modes)\n", in_force.api_folder);
  }
  for (const auto& [source, count] : CountBySource(rules)) {
    text += fmt::format("  rules   {} from {}\n", count, source);
  }
  if (!in_force.envoy.empty()) {
    text += fmt::format("  envoy   {}{}\n", in_force.envoy,
                        rules.rules().empty() ? " (no rules of Sluice's own)" : "");
  } else if (rules.rules().empty()) {
    text +=
        "  rules   none: every request is allowed (rule_sources: or rules: in the "
        "configuration)\n";
  }
  text += ModesText(in_force);
  text += fmt::format("  threads {}\n\nTry:\n", server.loops());
  if (!in_force.envoy.empty() && rules.rules().empty()) {
    if (!admin.empty()) {
      text += fmt::format("  curl -s {}/rlconfig\n", admin);
    }
  } else if (!check.empty()) {
    text += RequestsText(check, rules);
  }
  if (!resp.empty()) {
    text += fmt::format("  redis-cli -u {} CL.THROTTLE user:42 15 30 60\n", resp);
  }
  if (!admin.empty()) {
    text += fmt::format("  curl -s {}/metrics\n", admin);
  } else if (!check.empty()) {
    text += fmt::format("  curl -s {}/readyz\n", check);
  }
  std::fputs(text.c_str(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

}  // namespace sluice::app
