#include "control/log_event.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "wire/json_writer.h"

namespace sluice::control {

namespace {

// Between the text and the members. The members are JSON, which has no such byte, so the last one
// of a line is ours, whatever the text quotes.
constexpr char kSeparator = '\x1e';

}  // namespace

LogField::LogField(std::string_view field_name, double number)
    : name(field_name), value(fmt::format("{}", number)), is_json(true) {}

void LogEvent(spdlog::level::level_enum level, const char* event, std::string_view text,
              std::initializer_list<LogField> fields) {
  if (spdlog::should_log(level)) {
    // The event's name goes as the name of the function, which the logger passes on as it is.
    spdlog::log(spdlog::source_loc("", 1, event), level, "{}", JoinLine(text, fields));
  }
}

std::string JoinLine(std::string_view text, std::initializer_list<LogField> fields) {
  std::string line(text);
  line += kSeparator;
  for (const LogField& field : fields) {
    line += ", \"";
    line += field.name;
    line += "\": ";
    if (field.is_json) {
      line += field.value;
    } else {
      wire::AppendJsonString(line, field.value);
    }
  }
  return line;
}

LogLine SplitLine(std::string_view line) {
  const std::size_t end = line.rfind(kSeparator);
  return end == std::string_view::npos
             ? LogLine{.text = line, .members = {}}
             : LogLine{.text = line.substr(0, end), .members = line.substr(end + 1)};
}

}  // namespace sluice::control
