#include "answer_text.h"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/display_text.h"
#include "base/fault.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

std::string Number(const json::object& of, const char* member, const char* if_null) {
  const json::value* value = of.if_contains(member);
  return value != nullptr && value->is_int64() ? std::to_string(value->as_int64()) : if_null;
}

std::string Text(const json::object& of, const char* member) {
  const json::value* value = of.if_contains(member);
  return value != nullptr && value->is_string() ? base::DisplayText(value->as_string()) : "";
}

bool Truth(const json::object& of, const char* member) {
  const json::value* value = of.if_contains(member);
  return value != nullptr && value->is_bool() && value->as_bool();
}

// When the same request would pass, or why no time can be given.
std::string WaitText(const json::object& limit, std::string_view reason) {
  if (const std::string wait = Number(limit, "retry_after_ms", ""); !wait.empty()) {
    return fmt::format("retry after {} ms", wait);
  }
  if (reason == "in_flight" || reason == "reserved") {
    return "retry time unknown: a slot must be released first";
  }
  return reason.starts_with("store_") ? "retry time unknown" : "retrying does not help";
}

std::string TellLimit(const json::object& limit, std::int64_t now) {
  std::string line =
      fmt::format("  {:<24} {:<8} limit {}, remaining {}", Text(limit, "name"),
                  Truth(limit, "allowed") ? "allowed" : "denied",
                  Number(limit, "limit", "unlimited"), Number(limit, "remaining", "unlimited"));
  const json::value* reset = limit.if_contains("reset_at");
  if (reset != nullptr && reset->is_int64()) {
    line += fmt::format(", full quota again in {} s",
                        std::max<std::int64_t>(0, reset->as_int64() - now));
  }
  if (const std::string reason = Text(limit, "reason"); !reason.empty()) {
    line += fmt::format(", {}, {}", reason, WaitText(limit, reason));
  }
  if (limit.contains("wait_ms")) {
    line += fmt::format(", wait {} ms", Number(limit, "wait_ms", "?"));
  }
  line += Truth(limit, "shadow") ? " (shadow)" : "";
  line += Truth(limit, "degraded") ? " (degraded)" : "";
  return line + '\n';
}

std::string TellHolds(const json::object& answer) {
  std::string text;
  const json::value* const holds = answer.if_contains("holds");
  for (const json::value& item :
       holds != nullptr && holds->is_array() ? holds->as_array() : json::array()) {
    if (const json::object* const hold = item.if_object()) {
      text += fmt::format("  hold: release it with sluice release {} {}\n", Text(*hold, "name"),
                          Text(*hold, "id"));
    }
  }
  return text;
}

}  // namespace

Result<AnswerText> TellAnswer(const std::string& body, std::int64_t now) {
  json::error_code error;
  const json::value parsed = json::parse(body, error);
  const json::object* object = error ? nullptr : parsed.if_object();
  if (object == nullptr || !object->contains("allowed")) {
    return Fault("unexpected answer from the server: " + body);
  }
  AnswerText answer;
  answer.allowed = Truth(*object, "allowed");
  answer.text = answer.allowed ? "allowed" : "denied";
  if (!answer.allowed) {
    const std::string seconds = Number(*object, "retry_after", "");
    answer.text += seconds.empty() ? "" : fmt::format(", retry after {} s", seconds);
  } else if (object->contains("wait_ms")) {
    answer.text += fmt::format(", {} {} ms", Truth(*object, "waited") ? "waited" : "wait",
                               Number(*object, "wait_ms", "?"));
  }
  answer.text += '\n';
  const json::value* limits = object->if_contains("limits");
  if (Truth(*object, "kill_switch")) {
    answer.text = "allowed: the kill switch is on\n";
    return answer;
  }
  if (limits == nullptr || !limits->is_array() || limits->as_array().empty()) {
    answer.text += "  no rule applies (see sluice explain)\n";
    return answer;
  }
  for (const json::value& limit : limits->as_array()) {
    if (const json::object* item = limit.if_object()) {
      answer.text += TellLimit(*item, now);
    }
  }
  answer.text += TellHolds(*object);
  return answer;
}

std::string TellProblem(int status, const std::string& body) {
  json::error_code error;
  const json::value parsed = json::parse(body, error);
  const json::object* object = error ? nullptr : parsed.if_object();
  if (object == nullptr || !object->contains("title")) {
    return fmt::format("status {}: {}", status, base::DisplayText(body, base::LineFeeds::kKept));
  }
  return fmt::format("{}: {}", Text(*object, "title"), Text(*object, "detail"));
}

bool IsNotServed(int status, const std::string& body) {
  constexpr int kNotFound = 404;
  json::error_code error;
  const json::value parsed = json::parse(body, error);
  const json::object* object = error ? nullptr : parsed.if_object();
  return status == kNotFound &&
         (object == nullptr || Text(*object, "detail").starts_with("this listener serves "));
}

}  // namespace sluice::app
