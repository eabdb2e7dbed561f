#include <string_view>

#include <fmt/format.h>

#include "base/display_text.h"
#include "stated_limits.h"
#include "time_text.h"
#include "wire/http1_response.h"
#include "wire/json_writer.h"

// What a pasted response states, for people and for scripts.
namespace sluice::app {

namespace {

constexpr std::int64_t kMillisecondsPerSecond = 1000;

std::string TellLimit(const StatedLimit& limit) {
  std::string text = base::DisplayText(limit.name) + ":";
  text += limit.limit ? fmt::format(" limit {}", *limit.limit) : "";
  text += limit.window_seconds
              ? fmt::format(" per {}", WaitText(*limit.window_seconds * kMillisecondsPerSecond))
              : "";
  text += limit.remaining ? fmt::format(", {} left", *limit.remaining) : "";
  text += limit.more_after_seconds
              ? fmt::format(", more after {}",
                            WaitText(*limit.more_after_seconds * kMillisecondsPerSecond))
              : "";
  text += limit.partition.empty() ? "" : ", partition " + base::DisplayText(limit.partition);
  text += limit.denies ? "  <- denies" : "";
  return text + (limit.reason.empty() ? "" : " (" + limit.reason + ")");
}

std::string Sentence(const StatedDecision& stated) {
  if (!stated.denied) {
    return "the response is no denial";
  }
  if (stated.rule.empty()) {
    return "denied, and the response does not say by which rule";
  }
  return fmt::format("denied by {}{}, says {}", base::DisplayText(stated.rule),
                     stated.reason.empty() ? "" : " (" + base::DisplayText(stated.reason) + ")",
                     stated.evidence);
}

void AddLine(std::string& text, std::string_view what, const std::string& value) {
  text += fmt::format("  {:<8} {}\n", what, value);
}

}  // namespace

std::string TellStatedDecision(const StatedDecision& stated, std::int64_t now) {
  std::string text = Sentence(stated) + '\n';
  if (stated.status != 0) {
    AddLine(text, "status", fmt::format("{} {}", stated.status, wire::StatusPhrase(stated.status)));
  }
  if (stated.dated) {
    const std::int64_t at = *stated.dated * kMillisecondsPerSecond;
    AddLine(text, "sent", ClockText(at, now) + ", " + DistanceText(at, now));
  }
  if (stated.limit) {
    AddLine(text, "limit",
            fmt::format("{}{}", *stated.limit,
                        stated.remaining ? fmt::format(", {} left", *stated.remaining) : ""));
  }
  if (stated.retry_after_seconds) {
    const std::int64_t wait = *stated.retry_after_seconds * kMillisecondsPerSecond;
    std::string passes = WaitText(wait) + " after the response";
    if (stated.dated) {
      const std::int64_t at = *stated.dated * kMillisecondsPerSecond + wait;
      passes += fmt::format(": at {}, {}", ClockText(at, now), DistanceText(at, now));
    }
    AddLine(text, "passes", passes);
  } else if (stated.denied) {
    AddLine(text, "passes",
            "the response has no Retry-After: waiting does not help, or a proxy "
            "removed it");
  }
  if (stated.reset_at) {
    const std::int64_t at = *stated.reset_at * kMillisecondsPerSecond;
    AddLine(text, "full", ClockText(at, now) + ", " + DistanceText(at, now));
  }
  for (const StatedLimit& limit : stated.limits) {
    AddLine(text, "rule", TellLimit(limit));
  }
  if (!stated.request_id.empty()) {
    AddLine(text, "request", base::DisplayText(stated.request_id));
  }
  if (stated.from_envoy) {
    AddLine(text, "from",
            "Envoy: ask for its descriptor with sluice why --domain DOMAIN key=value");
  }
  return text;
}

void AppendStatedDecision(const StatedDecision& stated, std::string& out) {
  wire::JsonWriter json(out);
  const auto number = [&json](std::string_view name, const std::optional<std::int64_t>& value) {
    if (value) {
      json.Name(name).Number(*value);
    }
  };
  const auto text = [&json](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      json.Name(name).Text(value);
    }
  };
  json.BeginObject();
  json.Name("denied").Truth(stated.denied);
  number("status", stated.status == 0 ? std::nullopt : std::optional<std::int64_t>(stated.status));
  text("rule_id", stated.rule);
  text("reason", stated.reason);
  text("evidence", stated.evidence);
  number("limit", stated.limit);
  number("remaining", stated.remaining);
  number("reset_at", stated.reset_at);
  number("retry_after", stated.retry_after_seconds);
  number("date", stated.dated);
  text("request_id", stated.request_id);
  json.Name("limits").BeginArray();
  for (const StatedLimit& limit : stated.limits) {
    json.BeginObject();
    json.Name("rule_id").Text(limit.name);
    json.Name("denies").Truth(limit.denies);
    text("reason", limit.reason);
    number("limit", limit.limit);
    number("window_s", limit.window_seconds);
    number("remaining", limit.remaining);
    number("more_after_s", limit.more_after_seconds);
    text("partition", limit.partition);
    json.EndObject();
  }
  json.EndArray().EndObject();
}

}  // namespace sluice::app
