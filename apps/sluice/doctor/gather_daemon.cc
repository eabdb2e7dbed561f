#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "answer_text.h"
#include "doctor/gather.h"
#include "net/http_client.h"

namespace sluice::app::doctor {

namespace {

namespace json = boost::json;

constexpr std::chrono::milliseconds kPatience{3000};  // Of each call.

// Calls of one admin listener. After one that fails, no other is made.
class AdminCalls {
 public:
  AdminCalls(net::HttpUrl server, std::string token, DaemonFacts& facts)
      : server_(std::move(server)), token_(std::move(token)), facts_(facts) {}

  // The body of a 200; "" for anything else, which the facts then explain.
  std::string Get(const std::string& path) {
    int status = 0;
    std::string body = Get(path, status);
    if (status != kOk && facts_.failure.empty()) {
      facts_.refused = true;
      facts_.failure = path + ": " + TellProblem(status, body);
    }
    return status == kOk ? body : "";
  }
  // The same without a word where the daemon has no such path: an older one.
  std::string GetIfServed(const std::string& path) {
    int status = 0;
    std::string body = Get(path, status);
    return status == kOk ? body : "";
  }
  [[nodiscard]] int StatusOf(const std::string& path) {
    int status = 0;
    (void)Get(path, status);
    return status;
  }

  static constexpr int kOk = 200;

 private:
  std::string Get(const std::string& path, int& status) {
    if (!facts_.failure.empty()) {
      return "";
    }
    auto answer =
        net::CallHttp(server_, {.target = path, .bearer_token = token_, .timeout = kPatience});
    if (!answer) {
      facts_.failure = answer.error().message;
      return "";
    }
    status = answer->status;
    return std::move(answer->body);
  }

  const net::HttpUrl server_;
  const std::string token_;
  DaemonFacts& facts_;
};

json::value Parsed(const std::string& body) {
  json::error_code error;
  json::value value = json::parse(body, error);
  return error ? json::value() : value;
}

std::string TextIn(const json::value& of, const char* member) {
  const json::object* const object = of.if_object();
  const json::value* const found = object == nullptr ? nullptr : object->if_contains(member);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : "";
}

double NumberIn(const json::value& of, const char* member) {
  const json::object* const object = of.if_object();
  const json::value* const found = object == nullptr ? nullptr : object->if_contains(member);
  json::error_code error;
  const double number = found == nullptr ? 0 : found->to_number<double>(error);
  return error ? 0 : number;
}

json::array ListIn(const json::value& of, const char* member) {
  const json::object* const object = of.if_object();
  const json::value* const found = object == nullptr ? nullptr : object->if_contains(member);
  return found != nullptr && found->is_array() ? found->as_array() : json::array();
}

void ReadRules(const json::value& config, DaemonFacts& facts) {
  for (const json::value& rule : ListIn(config, "rules")) {
    facts.rules.push_back({.id = TextIn(rule, "rule_id"),
                           .mode = TextIn(rule, "mode"),
                           .configured_mode = TextIn(rule, "configured_mode"),
                           .source = TextIn(rule, "source")});
  }
}

void ReadShadowKeys(const json::value& report, WallInstant now, DaemonFacts& facts) {
  const auto since = std::chrono::duration<double>(NumberIn(report, "since"));
  if (since.count() > 0) {
    facts.uptime = now.time_since_epoch() - std::chrono::duration_cast<Duration>(since);
  }
  for (const json::value& rule : ListIn(report, "rules")) {
    BusyKeys busy{.rule = TextIn(rule, "rule_id")};
    for (const json::value& key : ListIn(rule, "keys")) {
      busy.keys.push_back({.text = TextIn(key, "key"), .count = NumberIn(key, "would_deny")});
    }
    facts.busy_keys.push_back(std::move(busy));
  }
}

// The busiest keys since the start, in place of those that rules in shadow mode would have denied.
void ReadTop(const json::value& top, DaemonFacts& facts) {
  if (!top.is_object()) {
    return;
  }
  facts.busy_keys.clear();
  for (const json::value& rule : ListIn(top, "rules")) {
    BusyKeys busy{.rule = TextIn(rule, "rule"), .total = NumberIn(rule, "total")};
    for (const json::value& key : ListIn(rule, "keys")) {
      busy.keys.push_back({.text = TextIn(key, "key"), .count = NumberIn(key, "count")});
    }
    facts.busy_keys.push_back(std::move(busy));
  }
}

// What the daemon remembers of the last hour, in place of what it counted since it started.
void ReadHistory(const json::value& history, DaemonFacts& facts) {
  const auto instant = [&](const json::value& period, const char* member) {
    return WallInstant(std::chrono::duration_cast<Duration>(
        std::chrono::duration<double>(NumberIn(period, member))));
  };
  const double minutes = NumberIn(history, "minutes");
  if (minutes < 1) {
    return;
  }
  facts.recent = telemetry::Samples();
  facts.period =
      minutes < 60 ? "since the daemon started, less than an hour ago" : "in the last hour";
  facts.minutes = static_cast<std::size_t>(minutes);
  std::map<std::string, std::vector<double>> by_minute;  // Decisions of each rule.
  for (const json::value& series : ListIn(history, "series")) {
    if (!series.is_object()) {
      continue;
    }
    telemetry::Samples::Sample sample{.name = TextIn(series, "metric"), .labels = {}};
    const json::value* const labels = series.as_object().if_contains("labels");
    if (labels != nullptr && labels->is_object()) {
      for (const auto& [label, value] : labels->as_object()) {
        sample.labels.emplace(label, TextIn(*labels, std::string(label).c_str()));
      }
    }
    std::size_t minute = 0;
    for (const json::value& grew : ListIn(series, "grew")) {
      json::error_code error;
      const double number = grew.to_number<double>(error);
      sample.value += error ? 0 : number;
      if (const auto rule = sample.labels.find("rule"); rule != sample.labels.end() && !error) {
        auto& decided = by_minute[rule->second];
        decided.resize(std::max(decided.size(), minute + 1));
        decided[minute] += number;
      }
      ++minute;
    }
    facts.recent.Add(std::move(sample));
  }
  for (const auto& [rule, decided] : by_minute) {
    facts.busiest_minute[rule] = *std::ranges::max_element(decided);
  }
  for (const json::value& period : ListIn(history, "fail_open")) {
    FailOpenPeriod& read = facts.fail_open.emplace_back();
    read.cause = TextIn(period, "cause");
    read.begin = instant(period, "begin");
    if (NumberIn(period, "end") > 0) {
      read.end = instant(period, "end");
    }
  }
}

}  // namespace

DaemonFacts AskForFacts(const std::string& server, const std::string& token, WallInstant now) {
  DaemonFacts facts{.server = server, .period = "since the daemon started"};
  const auto url = net::ParseHttpUrl(server);
  if (!url) {
    facts.failure = url.error().message;
    return facts;
  }
  AdminCalls calls(*url, token, facts);
  facts.ready = calls.StatusOf("/readyz") == AdminCalls::kOk;
  const json::value config = Parsed(calls.Get("/v1/ratelimit/config"));
  facts.kill_switch = config.is_object() && config.as_object().contains("kill_switch") &&
                      config.at("kill_switch") == json::value(true);
  ReadRules(config, facts);
  facts.now = telemetry::Samples(calls.Get("/metrics"));
  facts.recent = facts.now;
  ReadShadowKeys(Parsed(calls.GetIfServed("/v1/ratelimit/shadow-report")), now, facts);
  ReadTop(Parsed(calls.GetIfServed("/v1/ratelimit/top?window=start&n=128")), facts);
  ReadHistory(Parsed(calls.GetIfServed("/v1/ratelimit/history")), facts);
  return facts;
}

}  // namespace sluice::app::doctor
