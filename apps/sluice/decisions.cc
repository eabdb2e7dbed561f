#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "ask_daemon.h"
#include "base/display_text.h"
#include "command.h"
#include "command_line.h"
#include "wire/url_encoding.h"

// sluice decisions.
namespace sluice::app {

namespace {

namespace json = boost::json;

struct DecisionsOptions {
  AdminOptions admin;
  std::string rule;
  std::string request_id;
  std::string key;
  std::string outcome;
  std::uint64_t count = 20;
};

std::string TextOf(const json::object& of, std::string_view member) {
  const json::value* const value = of.if_contains(member);
  if (value == nullptr || value->is_null()) {
    return "-";
  }
  return value->is_string() ? base::DisplayText(value->as_string()) : json::serialize(*value);
}

std::string KeyOf(const json::object& decision) {
  std::string text;
  const json::value* const key = decision.if_contains("key");
  if (key == nullptr || !key->is_object()) {
    return "-";
  }
  for (const auto& [name, value] : key->as_object()) {
    text += text.empty() ? "" : " ";
    text += base::DisplayText(name) + "=" +
            (value.is_string() ? base::DisplayText(value.as_string()) : "");
  }
  return text.empty() ? "-" : text;
}

std::string NotesOf(const json::object& decision) {
  std::string notes;
  if (decision.contains("reason")) {
    notes += "  " + TextOf(decision, "reason");
    const std::string wait = TextOf(decision, "retry_after_ms");
    notes += wait == "-" ? "" : ", passes in " + wait + " ms";
  }
  for (const char* flag : {"degraded", "lease"}) {
    notes += decision.contains(flag) ? std::string("  ") + flag : "";
  }
  return notes;
}

// A line for each rule that judged the request; the first has its time and id.
void TellOne(const json::object& request, std::string& text) {
  std::string head = fmt::format("{}  {}", TextOf(request, "time"), TextOf(request, "request_id"));
  const json::value* const decisions = request.if_contains("decisions");
  if (decisions == nullptr || !decisions->is_array() || decisions->as_array().empty()) {
    text += head + "  allowed  no rule applied\n";
    return;
  }
  const std::size_t indent = head.size();
  for (const json::value& item : decisions->as_array()) {
    if (!item.is_object()) {
      continue;
    }
    const json::object& one = item.as_object();
    text += fmt::format("{:<{}}  {:<14}  {}  {}  {} of {} left{}\n", head, indent,
                        TextOf(one, "outcome"), TextOf(one, "rule"), KeyOf(one),
                        TextOf(one, "remaining"), TextOf(one, "limit"), NotesOf(one));
    head.clear();
  }
}

std::string Tell(const std::string& answer) {
  json::error_code error;
  const json::value parsed = json::parse(answer, error);
  if (error || !parsed.is_object() || !parsed.as_object().contains("decisions") ||
      !parsed.as_object().at("decisions").is_array()) {
    return answer + "\n";
  }
  std::string text;
  for (const json::value& request : parsed.as_object().at("decisions").as_array()) {
    if (request.is_object()) {
      TellOne(request.as_object(), text);
    }
  }
  return text.empty() ? "no such decision is kept on this node\n" : text;
}

int Decisions(const DecisionsOptions& options) {
  std::string target = "/v1/ratelimit/decisions?n=" + std::to_string(options.count);
  for (const auto& [name, value] :
       {std::pair("rule", &options.rule), std::pair("request_id", &options.request_id),
        std::pair("key", &options.key), std::pair("outcome", &options.outcome)}) {
    if (!value->empty()) {
      target += std::string("&") + name + "=";
      wire::AppendPercentEncoded(target, *value);
    }
  }
  return AskAdmin(options.admin, {.target = target}, Tell);
}

struct TraceOptions {
  AdminOptions admin;
  std::string state;
  std::uint64_t per_second = 10;
  std::uint64_t seconds = 300;
};

std::string TellTrace(const std::string& answer) {
  json::error_code error;
  const json::value parsed = json::parse(answer, error);
  if (error || !parsed.is_object()) {
    return answer + "\n";
  }
  const json::object& trace = parsed.as_object();
  const std::string per_second = TextOf(trace, "per_second");
  if (per_second == "0") {
    return "the trace is off\n";
  }
  const std::string left = TextOf(trace, "seconds_left");
  return "the daemon's log shows up to " + per_second + " requests a second" +
         (left == "-" ? "" : ", for another " + left + " s") + "\n";
}

int RunTrace(const TraceOptions& options) {
  net::HttpCall call{.target = "/v1/ratelimit/trace"};
  if (options.state == "on") {
    call.method = "PUT";
    call.content_type = "application/json";
    call.body =
        fmt::format(R"({{"per_second": {}, "seconds": {}}})", options.per_second, options.seconds);
  } else if (options.state == "off") {
    call.method = "DELETE";
  }
  return AskAdmin(options.admin, call, TellTrace);
}

}  // namespace

void AddTrace(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<TraceOptions>();
  Command& command = AddCommand(
      app, "trace", "Log some requests whole; without an argument, show the state",
      {.notes =
           "While it is on, the daemon's log has a line for some requests of each second: the "
           "attributes with which they came, and every rule that judged them. Secrets are shown "
           "by their hash. It turns itself off.",
       .examples = {{"Log up to 20 requests a second for a minute",
                     "sluice trace on --per-second 20 --seconds 60"},
                    {"Turn it off now", "sluice trace off"}}});
  command.add_option("state", options->state, "on, or off")->check(CLI::IsMember({"on", "off"}));
  command.add_option("--per-second", options->per_second, "Most requests a second")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}));
  command.add_option("--seconds", options->seconds, "When it turns itself off")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{86400}));
  AddAdminOptions(command, options->admin);
  command.callback([options, &exit_code] { exit_code = RunTrace(*options); });
}

void AddDecisions(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<DecisionsOptions>();
  Command& command = AddCommand(
      app, "decisions", "List the last decisions, newest first",
      {.notes =
           "Lists what this node decided last: a line for each rule that judged a request. Denials "
           "are kept longer than what was allowed. Under load only a sample is kept; the decision "
           "log (decision_log in the configuration) can keep everything.",
       .examples = {{"What was denied last", "sluice decisions --outcome denied"},
                    {"What became of one request, by the X-Request-Id of its answer",
                     "sluice decisions --request-id 9f86d081884c7d659a2feaa0c55ad015"},
                    {"A user's last decisions", "sluice decisions --key user_id=u_42"}}});
  command.add_option("--rule", options->rule, "Only requests that this rule judged");
  command.add_option("--request-id", options->request_id, "Only the request with this id");
  command.add_option("--key", options->key,
                     "Only keys with this value, or with this attribute=value");
  command.add_option("--outcome", options->outcome,
                     "Only requests that were allowed, or denied; or for which a rule had this "
                     "outcome, such as shadow_denied");
  command.add_option("--count", options->count, "Most requests to list")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1000}));
  AddAdminOptions(command, options->admin);
  command.callback([options, &exit_code] { exit_code = Decisions(*options); });
}

}  // namespace sluice::app
