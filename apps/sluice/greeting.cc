#include "greeting.h"

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "version.h"

namespace sluice::app {

namespace {

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

}  // namespace

void Greet(const Server& server, const std::string& store, const rules::RuleSet& rules) {
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
  }
  text += fmt::format("  store   {}\n", store);
  for (const auto& [source, count] : CountBySource(rules)) {
    text += fmt::format("  rules   {} from {}\n", count, source);
  }
  if (rules.rules().empty()) {
    text +=
        "  rules   none: every request is allowed (rule_sources: or rules: in the "
        "configuration)\n";
  }
  text += fmt::format("  loops   {}\n\nTry:\n", server.loops());
  if (!check.empty()) {
    text += fmt::format(
        "  curl -i --json '{{\"user_id\": \"u_42\", \"endpoint\": \"/v1/charges\"}}' "
        "{}/v1/ratelimit/check\n  curl -s {}/v1/ratelimit/status/u_42\n",
        check, check);
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
