#include "log_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "command_line.h"
#include "core/quota.h"
#include "logs/format_detection.h"
#include "logs/time_order.h"

namespace sluice::app {

void AddLogArguments(CLI::App& command, LogArguments& arguments,
                     const std::vector<std::string>& more_formats) {
  std::vector<std::string> formats{"auto", "common", "combined", "vhost_combined", "haproxy",
                                   "alb",  "elb",    "envoy",    "istio",          "csv",
                                   "tsv",  "json",   "w3c",      "decisions"};
  formats.insert(formats.end(), more_formats.begin(), more_formats.end());
  command.add_option("--format", arguments.format, "The format of the logs")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  command
      .add_option("--log-format", arguments.log_format,
                  "The layout of a line, as in NGINX's log_format: "
                  "'$remote_addr [$time_local] \"$request\" $status'")
      ->type_name("TEXT")
      ->excludes("--format");
  command
      .add_option("--time", arguments.time,
                  "The column with the time of a request; its unit, if it is a number: "
                  "s, ms, us or ns (ts:ms, or :ms alone)")
      ->type_name("COLUMN[:UNIT]");
  command
      .add_option("--map", arguments.maps,
                  "Take an attribute from a column: user_id=column (may be repeated)")
      ->type_name("ATTRIBUTE=COLUMN")
      ->allow_extra_args(false);
  command
      .add_option("--cost", arguments.cost,
                  "Column with the cost of a request (without it: every request costs 1)")
      ->type_name("COLUMN");
  command.add_option("--columns", arguments.columns, "Column names of a CSV file without a header")
      ->type_name("A,B,C");
  command
      .add_option("--time-zone", arguments.zone,
                  "Time zone of timestamps without a zone, e.g. Europe/Berlin")
      ->capture_default_str();
  command
      .add_option("--reorder", arguments.reorder,
                  "Reorder lines that are out of order by up to this duration, at most 1h")
      ->capture_default_str();
  command.add_flag("--no-spread", arguments.no_spread,
                   "Use whole-second timestamps as they are. Without it, requests are spread over "
                   "their second for rules that look back less than 30 s");
  command.add_flag(
      "--sort", arguments.sort,
      "Sort each log completely before judging it (files that need it are always sorted)");
  command
      .add_option("logs", arguments.logs,
                  "The logs, plain or .gz, merged by time; - is standard input")
      ->required()
      ->type_name("FILE");
}

std::size_t OutputColumns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0) {
    return size.ws_col;
  }
  const char* const said = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view text = said == nullptr ? "" : said;
  std::size_t columns = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
  return read.ec == std::errc() && columns != 0 ? columns : 80;
}

std::optional<Duration> DurationOf(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kUnits{
      {{"ms", 1'000'000},
       {"s", 1'000'000'000},
       {"m", 60'000'000'000},
       {"h", 3'600'000'000'000},
       {"d", 86'400'000'000'000},
       {"", 0}}};
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
  const auto* const found =
      std::ranges::find(kUnits, unit, &std::pair<std::string_view, std::int64_t>::first);
  if (read.ec != std::errc() || found == kUnits.end() || number < 0 ||
      (found->second == 0 && number != 0) ||
      (found->second != 0 && number > core::kLongestHorizon.count() / found->second)) {
    return std::nullopt;
  }
  return Duration(number * found->second);
}

namespace {

// "ts", "ts:ms", ":ms".
logs::TimeColumn TimeColumnOf(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, Duration>, 4> kUnits{
      {{"s", std::chrono::seconds(1)},
       {"ms", std::chrono::milliseconds(1)},
       {"us", std::chrono::microseconds(1)},
       {"ns", std::chrono::nanoseconds(1)}}};
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos) {
    for (const auto& [name, unit] : kUnits) {
      if (text.substr(colon + 1) == name) {
        return {.name = text.substr(0, colon), .unit = unit};
      }
    }
  }
  return {.name = text};
}

// --time, or --map time=COLUMN, which is the same. False, with a message, if they differ.
bool ReadTime(const LogArguments& arguments, logs::LogOptions& options) {
  options.time = TimeColumnOf(arguments.time);
  for (const std::string& map : arguments.maps) {
    if (!map.starts_with("time=")) {
      continue;
    }
    const logs::TimeColumn mapped = TimeColumnOf(map.substr(5));
    if (!options.time.name.empty() && options.time.name != mapped.name) {
      std::fprintf(stderr, "sluice: --map %s: --time names a different column\n", map.c_str());
      return false;
    }
    options.time.name = mapped.name;
    options.time.unit = options.time.unit ? options.time.unit : mapped.unit;
  }
  return true;
}

}  // namespace

std::optional<logs::LogOptions> LogOptionsOf(const LogArguments& arguments) {
  logs::LogOptions options;
  options.format = logs::FormatNamed(arguments.format);
  options.zone = arguments.zone;
  options.sort = arguments.sort;
  if (!ReadTime(arguments, options)) {
    return std::nullopt;
  }
  if (!arguments.log_format.empty()) {
    auto pattern = logs::LogPattern::Parse(arguments.log_format);
    if (!pattern) {
      std::fprintf(stderr, "sluice: --log-format: %s\n", pattern.error().message.c_str());
      return std::nullopt;
    }
    options.pattern = std::move(*pattern);
    options.format = logs::Format::kPattern;
  }
  const auto reorder = DurationOf(arguments.reorder);
  if (!reorder || *reorder > logs::TimeOrder::kLongestHorizon) {
    std::fprintf(stderr, "sluice: --reorder %s: write a duration up to 1h, such as 2m\n",
                 arguments.reorder.c_str());
    return std::nullopt;
  }
  options.horizon = std::chrono::ceil<std::chrono::seconds>(*reorder);
  for (std::string_view rest = arguments.columns; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    options.column_names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return options;
}

std::optional<logs::AttributePlan> AttributePlanOf(const LogArguments& arguments,
                                                   const std::vector<std::string>& attributes) {
  std::map<std::string, std::string> sources;
  for (const std::string& word : arguments.maps) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) {
      std::fprintf(stderr, "sluice: --map %s: write attribute=column, as in user_id=account\n",
                   word.c_str());
      return std::nullopt;
    }
    if (word.substr(0, equals) != "time") {  // The time is not an attribute: see LogOptionsOf().
      sources.insert_or_assign(word.substr(0, equals), word.substr(equals + 1));
    }
  }
  return logs::AttributePlan(attributes, sources, arguments.cost);
}

int RefuseLogs(const std::string& why) {
  std::fprintf(stderr, "sluice: %s\n", why.c_str());
  return kExitError;
}

}  // namespace sluice::app
