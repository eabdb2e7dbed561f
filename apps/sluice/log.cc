#include "log.h"

#include <memory>
#include <utility>

#include <spdlog/async.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "base/display_text.h"
#include "control/log_event.h"
#include "wire/json_writer.h"

namespace sluice::app {

namespace {

// What LogEvent() wrote has the event's name; a line of a library has none.
control::LogLine LineOf(const spdlog::details::log_msg& message) {
  const std::string_view line(message.payload.data(), message.payload.size());
  return message.source.funcname != nullptr ? control::SplitLine(line)
                                            : control::LogLine{.text = line, .members = {}};
}

// %J: the event, the message and the fields as members of a JSON object.
class JsonMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const control::LogLine line = LineOf(message);
    std::string text = "\"event\": ";
    wire::AppendJsonString(text,
                           message.source.funcname != nullptr ? message.source.funcname : "log");
    text += ", \"message\": ";
    wire::AppendJsonString(text, line.text);
    text += line.members;
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<JsonMessage>();
  }
};

// %V: the message as a terminal may be given it. It may quote what a client chose.
class DisplayedMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& out) override {
    const std::string text = base::DisplayText(LineOf(message).text, base::LineFeeds::kKept);
    out.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<DisplayedMessage>();
  }
};

}  // namespace

void StartLog(const std::string& level, LogFormat format) {
  constexpr std::size_t kQueuedLines = 8192;
  spdlog::init_thread_pool(kQueuedLines, 1);
  auto logger = std::make_shared<spdlog::async_logger>(
      "sluice", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(), spdlog::thread_pool(),
      spdlog::async_overflow_policy::overrun_oldest);
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::warn);
  auto formatter = std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::utc);
  formatter->add_flag<JsonMessage>('J');
  formatter->add_flag<DisplayedMessage>('V');
  formatter->set_pattern(format == LogFormat::kJson
                             ? R"({"time": "%Y-%m-%dT%H:%M:%S.%eZ", "level": "%l", %J})"
                             : "%Y-%m-%dT%H:%M:%S.%eZ %^%-5l%$ %V");
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

void StopLog() {
  // The logger goes after the thread that writes for it, in an order that sanitizers see too:
  // spdlog's own counts are in a library that they do not look into.
  const std::shared_ptr<spdlog::logger> last = spdlog::default_logger();
  spdlog::shutdown();
}

}  // namespace sluice::app
