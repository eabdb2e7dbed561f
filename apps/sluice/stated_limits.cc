#include "stated_limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <string_view>
#include <utility>

#include <boost/json.hpp>

#include "sluice/decision.h"

#include "json_answer.h"
#include "wire/structured_field.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

// The whole number that the text begins with, if it may be one of ours: "10" of "10, 10;w=60".
std::optional<std::int64_t> LeadingNumber(const std::optional<std::string>& text) {
  std::int64_t number = 0;
  if (!text) {
    return std::nullopt;
  }
  const auto [stop, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  const bool good = error == std::errc() && number >= 0 && number <= kMaxUnits;
  return good ? std::optional(number) : std::nullopt;
}

// Unix seconds of "Sun, 06 Nov 1994 08:49:37 GMT".
std::optional<std::int64_t> SecondsOf(const std::optional<std::string>& date) {
  std::tm parts{};
  if (!date || ::strptime(date->c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts) == nullptr) {
    return std::nullopt;
  }
  return ::timegm(&parts);
}

std::optional<std::int64_t> Number(const wire::SfItem& item, std::string_view key) {
  const wire::SfBareItem* const value = item.Param(key);
  const auto* const number = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

StatedLimit& LimitOf(std::string_view name, StatedDecision& stated) {
  const auto found = std::ranges::find(stated.limits, name, &StatedLimit::name);
  if (found != stated.limits.end()) {
    return *found;
  }
  StatedLimit& added = stated.limits.emplace_back();
  added.name = name;
  return added;
}

// RateLimit-Policy and RateLimit; a malformed field is ignored as a whole (RFC 9651).
void ReadPolicies(const PastedResponse& response, StatedDecision& stated) {
  for (const char* const field : {"ratelimit-policy", "ratelimit"}) {
    const auto items = wire::ParseSfList(response.Field(field).value_or(""));
    for (const wire::SfItem& item : items ? *items : std::vector<wire::SfItem>()) {
      const auto* const name = std::get_if<std::string>(&item.value);
      if (name == nullptr) {
        continue;
      }
      StatedLimit& limit = LimitOf(*name, stated);
      const auto take = [&item](std::string_view key, std::optional<std::int64_t>& into) {
        into = into ? into : Number(item, key);
      };
      take("q", limit.limit);
      take("w", limit.window_seconds);
      take("r", limit.remaining);
      take("t", limit.more_after_seconds);
      if (const wire::SfBareItem* const key = item.Param("pk")) {
        const auto* const bytes = std::get_if<wire::SfBytes>(key);
        const auto* const text = std::get_if<std::string>(key);
        limit.partition = bytes != nullptr ? bytes->bytes : text != nullptr ? *text : "";
      }
    }
  }
}

void Name(std::string rule, std::string reason, const char* evidence, StatedDecision& stated) {
  if (!stated.rule.empty() || rule.empty()) {
    return;
  }
  LimitOf(rule, stated).denies = true;
  stated.rule = std::move(rule);
  stated.evidence = evidence;
  if (stated.reason.empty()) {
    stated.reason = std::move(reason);
  }
}

// "api_rate denies: quota_exceeded", the detail of a problem and the grpc-message.
void ReadDenies(const std::string& text, const char* evidence, StatedDecision& stated) {
  constexpr std::string_view kDenies = " denies: ";
  if (const std::size_t at = text.find(kDenies); at != std::string::npos) {
    Name(text.substr(0, at), text.substr(at + kDenies.size()), evidence, stated);
  }
}

// The body of a check's answer, or the problem document of an answer to a proxy.
void ReadBody(const std::string& text, StatedDecision& stated) {
  json::stream_parser parser;
  json::error_code error;
  parser.write_some(text.data(), text.size(), error);  // What is behind the JSON is ignored.
  if (error || !parser.done()) {
    return;
  }
  const json::value parsed = parser.release();
  const JsonAnswer body(parsed);
  stated.denied |= body.Has("allowed") && !body.Truth("allowed");
  // Never and unknown are null, and wait longer than every number.
  std::int64_t longest = -1;
  std::string governing;
  std::string reason;
  for (const json::value& item : body.List("limits")) {
    const JsonAnswer member(item);
    StatedLimit& limit = LimitOf(member.Text("name"), stated);
    limit.limit = limit.limit ? limit.limit : member.NumberIfAny("limit");
    limit.remaining = limit.remaining ? limit.remaining : member.NumberIfAny("remaining");
    limit.reason = member.Text("reason");
    limit.denies = !member.Truth("allowed") && !member.Truth("shadow");
    const std::int64_t wait = member.NumberIfAny("retry_after_ms").value_or(INT64_MAX);
    if (limit.denies && wait > longest) {
      longest = wait;
      governing = limit.name;
      reason = limit.reason;
    }
  }
  Name(governing, reason, "the body's limits", stated);
  for (const json::value& policy : body.List("violated-policies")) {
    if (policy.is_string()) {
      LimitOf(base::DisplayText(policy.as_string()), stated).denies = true;
    }
  }
  stated.reason =
      stated.reason.empty() && body.Has("violated-policies") ? body.Text("code") : stated.reason;
  ReadDenies(body.Text("detail"), "the problem document", stated);
  if (const auto& violated = body.List("violated-policies"); !violated.empty()) {
    Name(violated[0].is_string() ? base::DisplayText(violated[0].as_string()) : "", "",
         "violated-policies", stated);
  }
}

// The policy with nothing left, or the one with the numbers of X-RateLimit-..., if it is the only
// one.
void GuessByNumbers(StatedDecision& stated) {
  const auto only = [&stated](auto holds, const char* evidence) {
    if (std::ranges::count_if(stated.limits, holds) == 1) {
      Name(std::ranges::find_if(stated.limits, holds)->name, "", evidence, stated);
    }
  };
  only([](const StatedLimit& limit) { return limit.remaining == 0; },
       "RateLimit, in which it is the only policy with nothing left");
  only(
      [&stated](const StatedLimit& limit) {
        return stated.limit && limit.limit == stated.limit && limit.remaining == stated.remaining;
      },
      "RateLimit, in which it is the only policy with the numbers of X-RateLimit");
}

}  // namespace

StatedDecision ReadStatedDecision(const PastedResponse& response) {
  StatedDecision stated;
  const auto number = [&response](const char* field) {
    return LeadingNumber(response.Field(field));
  };
  stated.status = static_cast<int>(number("x-rl-status").value_or(response.status));
  stated.limit = number("x-ratelimit-limit");
  stated.remaining = number("x-ratelimit-remaining");
  stated.reset_at = number("x-ratelimit-reset");
  stated.retry_after_seconds = number("retry-after");
  stated.dated = SecondsOf(response.Field("date"));
  stated.request_id = response.Field("x-request-id").value_or("");
  stated.from_envoy = response.Field("x-envoy-ratelimited").has_value();
  constexpr int kFirstRefusal = 400;
  constexpr std::array kGrpcRefusals{7, 8,
                                     14};  // PERMISSION_DENIED, RESOURCE_EXHAUSTED, UNAVAILABLE.
  const auto grpc = number("grpc-status").value_or(0);
  stated.denied = stated.status >= kFirstRefusal ||
                  std::ranges::find(kGrpcRefusals, grpc) != kGrpcRefusals.end() ||
                  (stated.status == 0 && stated.retry_after_seconds.has_value());
  ReadPolicies(response, stated);
  ReadBody(response.body, stated);
  if (stated.denied) {
    ReadDenies(response.Field("grpc-message").value_or(""), "grpc-message", stated);
    Name(response.Field("x-ratelimit-resource").value_or(""), "", "X-RateLimit-Resource", stated);
    GuessByNumbers(stated);
  }
  return stated;
}

}  // namespace sluice::app
