#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <spdlog/common.h>

// How the daemon logs. Each line has a text for people, and, where lines are JSON, the name of what
// happened and its parts as members of their own: a program that reads the log needs no text.
namespace sluice::control {

// One part of what happened. Its name is one of ours: rule, listener, reason, source, file, …
struct LogField {
  LogField(std::string_view field_name, std::string_view text) : name(field_name), value(text) {}
  LogField(std::string_view field_name, std::uint64_t number)
      : name(field_name), value(std::to_string(number)), is_json(true) {}
  LogField(std::string_view field_name, double number);
  // `json`: a value that is JSON already.
  [[nodiscard]] static LogField Json(std::string_view field_name, std::string_view json) {
    LogField field(field_name, json);
    field.is_json = true;
    return field;
  }

  std::string_view name;
  std::string value;
  bool is_json = false;
};

// Writes a line. `event`: a literal of letters and '_', which stays the same whatever the text
// becomes. Any thread.
void LogEvent(spdlog::level::level_enum level, const char* event, std::string_view text,
              std::initializer_list<LogField> fields = {});

// What a line consists of: see JoinLine().
struct LogLine {
  std::string_view text;
  std::string_view members;  // JSON: `, "rule": "api"` …; "" without fields.
};

// A line as it passes through the logger, and its parts again. Only of lines that LogEvent() wrote,
// which are those that have an event's name.
[[nodiscard]] std::string JoinLine(std::string_view text, std::initializer_list<LogField> fields);
[[nodiscard]] LogLine SplitLine(std::string_view line);

}  // namespace sluice::control
