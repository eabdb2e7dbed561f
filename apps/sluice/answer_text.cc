#include "answer_text.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/display_text.h"
#include "base/fault.h"
#include "json_answer.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

// null where the text is no JSON.
json::value Parse(const std::string& text) {
  json::error_code error;
  json::value parsed = json::parse(text, error);
  return error ? json::value() : parsed;
}

// `tell` of the parsed answer, or the answer as it is where it has no `member`.
template <class Tell>
std::string TellOf(const std::string& answer, const char* member, Tell tell) {
  const json::value parsed = Parse(answer);
  if (JsonAnswer(parsed).Find(member) == nullptr) {
    return answer + "\n";
  }
  return tell(JsonAnswer(parsed));
}

std::string Counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string TellKeys(const std::string& answer, std::string_view done) {
  return TellOf(answer, "keys", [done](const JsonAnswer& keys) {
    return fmt::format(
        "{} {}{}\n", Counted(keys.Number("keys"), "key"), done,
        keys.Truth("complete")
            ? ""
            : "; keys of concurrency rules were not changed: release their holds instead");
  });
}

// When the same request would pass, or why no time can be given.
std::string WaitText(const JsonAnswer& limit, std::string_view reason) {
  if (const std::string wait = limit.NumberOr("retry_after_ms", ""); !wait.empty()) {
    return fmt::format("retry after {} ms", wait);
  }
  if (reason == "in_flight" || reason == "reserved") {
    return "retry time unknown: a slot must be released first";
  }
  return reason.starts_with("store_") ? "retry time unknown" : "retrying does not help";
}

std::string TellLimit(const JsonAnswer& limit, std::int64_t now) {
  std::string line =
      fmt::format("  {:<24} {:<8} limit {}, remaining {}", limit.Text("name"),
                  limit.Truth("allowed") ? "allowed" : "denied",
                  limit.NumberOr("limit", "unlimited"), limit.NumberOr("remaining", "unlimited"));
  if (const std::int64_t reset = limit.Number("reset_at"); reset != 0) {
    line += fmt::format(", full quota again in {} s", std::max<std::int64_t>(0, reset - now));
  }
  if (const std::string reason = limit.Text("reason"); !reason.empty()) {
    line += fmt::format(", {}, {}", reason, WaitText(limit, reason));
  }
  if (limit.Find("wait_ms") != nullptr) {
    line += fmt::format(", wait {} ms", limit.NumberOr("wait_ms", "?"));
  }
  line += limit.Truth("shadow") ? " (shadow)" : "";
  line += limit.Truth("degraded") ? " (degraded)" : "";
  return line + '\n';
}

std::string TellHolds(const JsonAnswer& answer) {
  std::string text;
  for (const json::value& item : answer.List("holds")) {
    const JsonAnswer hold(item);
    text += fmt::format("  hold: release it with sluice release {} {}\n", hold.Text("name"),
                        hold.Text("id"));
  }
  return text;
}

}  // namespace

Result<AnswerText> TellAnswer(const std::string& body, std::int64_t now) {
  const json::value parsed = Parse(body);
  const JsonAnswer answer(parsed);
  if (answer.Find("allowed") == nullptr) {
    return Fault("unexpected answer from the server: " + body);
  }
  AnswerText shown{.allowed = answer.Truth("allowed"), .text = {}};
  if (answer.Truth("kill_switch")) {
    shown.text = "allowed: the kill switch is on\n";
    return shown;
  }
  shown.text = shown.allowed ? "allowed" : "denied";
  if (!shown.allowed) {
    const std::string seconds = answer.NumberOr("retry_after", "");
    shown.text += seconds.empty() ? "" : fmt::format(", retry after {} s", seconds);
  } else if (answer.Find("wait_ms") != nullptr) {
    shown.text += fmt::format(", {} {} ms", answer.Truth("waited") ? "waited" : "wait",
                              answer.NumberOr("wait_ms", "?"));
  }
  shown.text += answer.List("limits").empty() ? "\n  no rule applies (see sluice explain)\n" : "\n";
  for (const json::value& limit : answer.List("limits")) {
    shown.text += TellLimit(JsonAnswer(limit), now);
  }
  shown.text += TellHolds(answer);
  return shown;
}

std::string TellProblem(int status, const std::string& body) {
  const json::value parsed = Parse(body);
  const JsonAnswer problem(parsed);
  if (problem.Find("title") == nullptr) {
    return fmt::format("status {}: {}", status, base::DisplayText(body, base::LineFeeds::kKept));
  }
  return fmt::format("{}: {}", problem.Text("title"), problem.Text("detail"));
}

bool IsNotServed(int status, const std::string& body) {
  constexpr int kNotFound = 404;
  const json::value parsed = Parse(body);
  return status == kNotFound &&
         (!parsed.is_object() ||
          JsonAnswer(parsed).Text("detail").starts_with("this listener serves "));
}

std::string TellMode(const std::string& answer) {
  return TellOf(answer, "rule_id", [](const JsonAnswer& mode) {
    const std::string origin =
        mode.Truth("set") ? fmt::format("set at run time on this node; the rule's own mode is {}",
                                        mode.Text("configured_mode"))
                          : "the rule's own mode";
    return fmt::format(
        "{}: {} ({})\n{}", mode.Text("rule_id"), mode.Text("mode"), origin,
        mode.Truth("kill_switch") ? "the kill switch is on: every request is allowed\n" : "");
  });
}

std::string TellKillSwitch(const std::string& answer) {
  return TellOf(answer, "on", [](const JsonAnswer& state) {
    return std::string(state.Truth("on")
                           ? "the kill switch is on: every request is allowed, nothing is counted\n"
                           : "the kill switch is off: the rules are active\n");
  });
}

std::string TellReset(const std::string& answer) {
  return TellKeys(answer, "reset");
}

std::string TellRefund(const std::string& answer) {
  return TellKeys(answer, "refunded");
}

std::string TellUnban(const std::string& answer) {
  return TellOf(answer, "lifted", [](const JsonAnswer& bans) {
    return Counted(bans.Number("lifted"), "ban") + " lifted\n";
  });
}

std::string TellRelease(const std::string& answer) {
  return TellOf(answer, "released", [](const JsonAnswer& holds) {
    return std::string(holds.Number("released") == 0
                           ? "the hold had already been released or had expired\n"
                           : "released\n");
  });
}

std::string TellBans(const std::string& answer) {
  return TellOf(answer, "bans", [](const JsonAnswer& answered) {
    std::string text;
    for (const json::value& item : answered.List("bans")) {
      const JsonAnswer ban(item);
      constexpr std::int64_t kSecond = 1000;
      std::string key;
      if (const json::value* const attributes = ban.Find("attributes");
          attributes != nullptr && attributes->is_object()) {
        for (const auto& attribute : attributes->as_object()) {
          const json::value& value = attribute.value();
          key += fmt::format("{}{}={}", key.empty() ? "" : " ", base::DisplayText(attribute.key()),
                             value.is_string() ? base::DisplayText(value.as_string()) : "");
        }
      }
      text += fmt::format("{:<24} {}  for another {} s\n", ban.Text("rule"), key,
                          (ban.Number("left_ms") + kSecond - 1) / kSecond);
    }
    return text.empty() ? "no key is banned\n" : text;
  });
}

std::string TellUsage(const std::string& answer) {
  return TellOf(answer, "limits", [](const JsonAnswer& usage) {
    if (usage.List("limits").empty()) {
      return std::string("no limit applies to this descriptor\n");
    }
    std::string text;
    for (const json::value& value : usage.List("limits")) {
      const JsonAnswer limit(value);
      std::string unit = limit.Text("unit");
      std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
      text += base::DisplayText(limit.Text("path"));
      text += fmt::format(": {} of {} per {} left", limit.Number("remaining"),
                          limit.Number("limit"), unit);
      const std::int64_t wait = limit.Number("retry_after_ms");
      text += limit.Truth("allowed") ? "\n"
              : wait > 0             ? fmt::format(", denied for {} s more\n", (wait + 999) / 1000)
                                     : std::string(", denied\n");
    }
    return text;
  });
}

}  // namespace sluice::app
