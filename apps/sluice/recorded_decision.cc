#include "recorded_decision.h"

#include <charconv>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "time_text.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

// Unix milliseconds of "2025-12-17T09:03:01.123456789Z"; nullopt for another text.
std::optional<std::int64_t> MillisecondsOf(const std::string& time) {
  constexpr std::int64_t kMillisecondsPerSecond = 1000;
  std::tm parts{};
  const char* const rest = ::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (rest == nullptr) {
    return std::nullopt;
  }
  std::int64_t milliseconds = 0;
  const std::string fraction = *rest == '.' ? std::string(rest + 1).substr(0, 3) : "";
  if (fraction.size() == 3) {
    (void)std::from_chars(fraction.data(), fraction.data() + fraction.size(), milliseconds);
  }
  return ::timegm(&parts) * kMillisecondsPerSecond + milliseconds;
}

// Whether the rule denied, and was enforced.
bool Denied(const JsonAnswer& rule) {
  const std::string outcome = rule.Text("outcome");
  return outcome == "denied" || outcome == "degraded_denied";
}

// The denying rule with the longest wait: never and unknown, which are null, are the longest.
std::optional<JsonAnswer> Governing(const JsonAnswer& request) {
  std::optional<JsonAnswer> governing;
  std::int64_t longest = -1;
  for (const json::value& item : request.List("decisions")) {
    const JsonAnswer rule(item);
    const std::int64_t wait = rule.NumberIfAny("retry_after_ms").value_or(INT64_MAX);
    if (Denied(rule) && wait > longest) {
      longest = wait;
      governing = rule;
    }
  }
  return governing;
}

std::string Sentence(const JsonAnswer& request, std::optional<std::int64_t> at, std::int64_t now) {
  if (request.Truth("allowed")) {
    return request.List("decisions").empty() ? "it was allowed: no rule applied" : "it was allowed";
  }
  const auto rule = Governing(request);
  if (!rule) {
    return "it was denied";
  }
  std::string text =
      fmt::format("it was denied by {} ({})", rule->Text("rule"), rule->Text("reason"));
  const auto wait = rule->NumberIfAny("retry_after_ms");
  if (!wait) {
    return text;
  }
  text += fmt::format(", and to wait {}", WaitText(*wait));
  return at ? text + fmt::format(": until {}, {}", ClockText(*at + *wait, now),
                                 DistanceText(*at + *wait, now))
            : text;
}

std::string KeyOf(const JsonAnswer& rule) {
  std::string text;
  const json::value* const key = rule.Find("key");
  const json::object* const parts = key == nullptr ? nullptr : key->if_object();
  for (const auto& part : parts == nullptr ? json::object() : *parts) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", base::DisplayText(part.key()),
                        JsonAnswer(*key).Text(part.key()));
  }
  return text.empty() ? "one key that all share" : text;
}

}  // namespace

std::string TellRecordedDecision(const JsonAnswer& request, std::int64_t now) {
  const auto at = MillisecondsOf(request.Text("time"));
  std::string text =
      fmt::format("request {} was decided at {}, on {}\n  {}\n", request.Text("request_id"),
                  at ? ClockText(*at, now) + ", " + DistanceText(*at, now) : request.Text("time"),
                  request.Text("listener"), Sentence(request, at, now));
  for (const json::value& item : request.List("decisions")) {
    const JsonAnswer rule(item);
    text += fmt::format("  {:<24} {:<14} {}; cost {}", rule.Text("rule"), rule.Text("outcome"),
                        KeyOf(rule), rule.Number("cost"));
    text += rule.NumberIfAny("limit")
                ? fmt::format("; {} of {} left", rule.Number("remaining"), rule.Number("limit"))
                : "";
    text += rule.Truth("lease") ? "; sync: lease" : "";
    text += rule.Truth("degraded") ? "; without the store" : "";
    text += '\n';
  }
  return text;
}

}  // namespace sluice::app
