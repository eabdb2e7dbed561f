#pragma once

// The bytes that a call sends, and what its response means. No I/O.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connection.h"
#include "request.h"

namespace sluice_client::detail {

inline std::string CheckBody(const Attributes& attributes, const CheckOptions& options) {
  std::string body = "{\"attributes\":{";
  for (const Attribute& attribute : attributes) {
    body += body.back() == '{' ? "" : ",";
    AppendJsonText(attribute.name, body);
    body += ':';
    if (attribute.is_text) {
      AppendJsonText(attribute.value, body);
    } else {
      body += attribute.value;
    }
  }
  body += "},\"cost\":" + std::to_string(options.cost);
  body += options.peek ? ",\"peek\":true" : "";
  body += options.wait ? ",\"wait\":true" : "";
  body += options.reserve ? ",\"reserve\":true" : "";
  body += options.receipt ? ",\"receipt\":true" : "";
  return body + "}";
}

// 128 random bits, from the system each time: a fork makes no two alike.
inline std::string NewKey() {
  thread_local std::random_device device;
  char text[33];
  std::snprintf(text, sizeof text, "%08x%08x%08x%08x", device(), device(), device(), device());
  return text;
}

// Without a decision in it: a proxy's answer, or that of a daemon that shuts down.
inline bool IsNotOurs(int status) {
  return status == 408 || status == 429 || status == 502 || status == 503 || status == 504;
}

[[noreturn]] inline void ThrowError(int status, const Json& problem) {
  const std::string detail = problem.Text("detail");
  if (IsNotOurs(status) || status == 500 || status == 200) {
    throw Unavailable("status " + std::to_string(status) + ": " + detail);
  }
  throw CallError(status, problem.Text("code"), detail);
}

inline Decision DecisionOf(int status, const Json& answer, const FieldList& fields) {
  using Kind = Json::Kind;
  const Json* const allowed = answer.Find("allowed");
  if (allowed == nullptr || (allowed->kind != Kind::kTrue && allowed->kind != Kind::kFalse)) {
    ThrowError(status, answer);
  }
  const auto milliseconds = [](const Json& of) -> std::optional<Milliseconds> {
    const std::optional<std::int64_t> value = of.Integer("retry_after_ms");
    return value ? std::optional<Milliseconds>(*value) : std::nullopt;
  };
  Decision decision;
  decision.allowed = allowed->kind == Kind::kTrue;
  decision.status = status;
  decision.remaining = answer.Integer("remaining");
  decision.reset_at = answer.Integer("reset_at");
  decision.retry_after = decision.allowed ? std::nullopt : milliseconds(answer);
  decision.wait = Milliseconds(answer.IsTrue("waited") ? 0 : answer.Integer("wait_ms").value_or(0));
  decision.receipt = answer.Text("receipt");
  decision.reservation = answer.Text("reservation");
  if (const Json* const limits = answer.Find("limits")) {
    for (const Json& item : limits->items) {
      Limit limit;
      limit.name = item.Text("name");
      limit.allowed = item.IsTrue("allowed");
      limit.limit = item.Integer("limit");
      limit.remaining = item.Integer("remaining");
      limit.reset_at = item.Integer("reset_at");
      limit.reason = item.Text("reason");
      limit.retry_after = milliseconds(item);
      limit.shadow = item.IsTrue("shadow");
      limit.degraded = item.IsTrue("degraded");
      decision.limits.push_back(std::move(limit));
    }
  }
  if (const Json* const holds = answer.Find("holds")) {
    for (const Json& item : holds->items) {
      decision.holds.push_back({item.Text("name"), item.Text("id")});
    }
  }
  if (!decision.allowed && decision.DeniedBy() != nullptr) {
    decision.reason = decision.DeniedBy()->reason;
  }
  for (const auto& [name, value] : fields) {
    const std::string lower = Lower(name);
    if (lower == "retry-after" || lower == "ratelimit" || lower == "ratelimit-policy" ||
        lower.compare(0, 12, "x-ratelimit-") == 0) {
      decision.headers.emplace_back(name, value);
    }
  }
  return decision;
}

inline Decision DecisionOf(const Response& response) {
  const Json answer = JsonReader::Read(response.answer.body).value_or(Json{});
  return DecisionOf(response.answer.status, answer, response.answer.fields);
}

// What Advise() reads of a denial by Sluice; of the fail mode's, it reads the field.
inline std::string AnswerBody(const Decision& decision) {
  if (decision.degraded) {
    return "";
  }
  return "{\"allowed\":false,\"limits\":[]" +
         (decision.retry_after
              ? ",\"retry_after_ms\":" + std::to_string(decision.retry_after->count())
              : "") +
         "}";
}

inline Json JsonOf(const Response& response) {
  std::optional<Json> answer = JsonReader::Read(response.answer.body);
  if (response.answer.status != 200) {
    ThrowError(response.answer.status, answer.value_or(Json{}));
  }
  if (!answer) {
    throw Unavailable("the response has no JSON");
  }
  return std::move(*answer);
}

}  // namespace sluice_client::detail
