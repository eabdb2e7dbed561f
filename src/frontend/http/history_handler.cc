#include <chrono>
#include <cstdint>
#include <string>

#include "frontend/http/handlers.h"
#include "insight/history.h"
#include "wire/json_writer.h"

// What operators read about the last hour.
namespace sluice::frontend::http {

namespace {

using insight::History;

std::int64_t UnixSeconds(WallInstant instant) {
  return std::chrono::floor<std::chrono::seconds>(instant.time_since_epoch()).count();
}

void AppendSeries(const History& history, const History::Series& series, wire::JsonWriter& json) {
  json.BeginObject();
  json.Name("metric").Text(series.sample.name);
  json.Name("labels").BeginObject();
  for (const auto& [label, value] : series.sample.labels) {
    json.EscapedName(label).Text(value);
  }
  json.EndObject();
  json.Name("grew").BeginArray();
  for (std::size_t ago = history.minutes(); ago > 0; --ago) {
    json.Number(history.GrewAt(series, ago - 1));
  }
  json.EndArray().EndObject();
}

}  // namespace

void HandleHistory(const Routed& routed) {
  const History& history = routed.at.settings.context->history();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("interval_s").Number(History::kMinute / std::chrono::seconds(1));
  json.Name("minutes").Number(static_cast<std::int64_t>(history.minutes()));
  json.Name("last_began").Number(UnixSeconds(history.minute_began()));
  json.Name("series").BeginArray();
  for (const auto& [key, series] : history.series()) {
    AppendSeries(history, series, json);
  }
  json.EndArray();
  json.Name("left_out").Number(static_cast<std::int64_t>(history.left_out()));
  json.Name("fail_open").BeginArray();
  for (const History::Period& period : history.fail_open()) {
    json.BeginObject();
    json.Name("cause").Text(period.cause);
    json.Name("begin").Number(UnixSeconds(period.begin));
    if (period.end) {
      json.Name("end").Number(UnixSeconds(*period.end));
    } else {
      json.Name("end").Null();
    }
    json.EndObject();
  }
  json.EndArray().EndObject();
  routed.exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
