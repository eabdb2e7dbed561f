#include "log_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/quota.h"
#include "logs/format_detection.h"
#include "logs/time_order.h"

namespace sluice::app {

void AddLogArguments(CLI::App& command, LogArguments& arguments,
                     const std::vector<std::string>& more_formats) {
  std::vector<std::string> formats{"auto", "common", "combined", "vhost_combined", "haproxy", "csv",
                                   "tsv",  "json",   "w3c"};
  formats.insert(formats.end(), more_formats.begin(), more_formats.end());
  command.add_option("--format", arguments.format, "What the logs are")
      ->check(CLI::IsMember(formats))
      ->capture_default_str();
  command
      .add_option("--map", arguments.maps,
                  "Where an attribute comes from: user_id=column (again for more)")
      ->type_name("ATTRIBUTE=COLUMN")
      ->allow_extra_args(false);
  command.add_option("--cost", arguments.cost, "The column with what a request costs; else 1 each")
      ->type_name("COLUMN");
  command
      .add_option("--columns", arguments.columns,
                  "The names of a CSV's columns, if it has no header")
      ->type_name("A,B,C");
  command
      .add_option("--time-zone", arguments.zone, "Of stamps that name none, as in Europe/Berlin")
      ->capture_default_str();
  command
      .add_option("--reorder", arguments.reorder,
                  "How far out of order lines may be and still be put right, at most 1h")
      ->capture_default_str();
  command
      .add_option("logs", arguments.logs,
                  "The logs, plain or .gz, merged by time; - is standard input")
      ->required();
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

std::optional<logs::LogOptions> LogOptionsOf(const LogArguments& arguments) {
  logs::LogOptions options;
  options.format = logs::FormatNamed(arguments.format);
  options.zone = arguments.zone;
  const auto reorder = DurationOf(arguments.reorder);
  if (!reorder || *reorder > logs::TimeOrder::kLongestHorizon) {
    std::fprintf(stderr, "sluice: --reorder %s: write a length of time up to 1h, as in 2m\n",
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
    sources.insert_or_assign(word.substr(0, equals), word.substr(equals + 1));
  }
  return logs::AttributePlan(attributes, sources, arguments.cost);
}

}  // namespace sluice::app
