#include "environment_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <unistd.h>

namespace sluice::app {

namespace {

// A number that is all of `text`.
template <class T>
std::optional<T> ReadAll(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace

Environment ProcessEnvironment() {
  return [](std::string_view name) -> std::optional<std::string> {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): read at start, before there are threads.
    const char* const value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

std::vector<std::string> ProcessVariables() {
  std::vector<std::string> names;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view variable = *at;
    names.emplace_back(variable.substr(0, variable.find('=')));
  }
  std::ranges::sort(names);
  return names;
}

std::optional<Duration> ReadGoDuration(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{{{"ns", 1},
                                                                       {"us", 1e3},
                                                                       {"\xc2\xb5s", 1e3},
                                                                       {"ms", 1e6},
                                                                       {"s", 1e9},
                                                                       {"m", 60e9},
                                                                       {"h", 3600e9}}};
  if (text == "0") {
    return Duration::zero();
  }
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative || text.starts_with('+') ? 1 : 0);
  if (text.empty()) {
    return std::nullopt;
  }
  double sum = 0;
  while (!text.empty()) {
    double count = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), count, std::chars_format::fixed);
    if (error != std::errc() || !(count >= 0)) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto* const unit = std::ranges::find_if(kUnits, [text](const auto& known) {
      const std::size_t size = std::min(text.find_first_of("0123456789."), text.size());
      return text.substr(0, size) == known.first;
    });
    if (unit == kUnits.end()) {
      return std::nullopt;
    }
    text.remove_prefix(unit->first.size());
    sum += count * unit->second;
  }
  constexpr double kMost = 9.2e18;  // Of a Duration, 292 years.
  if (sum > kMost) {
    return std::nullopt;
  }
  return Duration(static_cast<std::int64_t>(negative ? -sum : sum));
}

std::string EnvironmentReader::Text(std::string_view name, std::string_view otherwise) const {
  return environment_(name).value_or(std::string(otherwise));
}

template <class T, class Read>
T EnvironmentReader::Value(std::string_view name, T otherwise, Read read, std::string_view why) {
  const auto text = environment_(name);
  if (!text) {
    return otherwise;
  }
  const std::optional<T> value = read(*text);
  if (!value) {
    Fail(name, *text, why);
  }
  return value.value_or(otherwise);
}

bool EnvironmentReader::Bool(std::string_view name, bool otherwise) {
  return Value(
      name, otherwise,
      [](std::string_view text) -> std::optional<bool> {
        constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "TRUE", "true", "True"};
        constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "FALSE", "false", "False"};
        if (std::ranges::find(kTrue, text) != kTrue.end()) {
          return true;
        }
        return std::ranges::find(kFalse, text) == kFalse.end() ? std::nullopt
                                                               : std::optional(false);
      },
      "is neither true nor false");
}

std::size_t EnvironmentReader::Number(std::string_view name, std::size_t otherwise,
                                      std::size_t most) {
  return Value(
      name, otherwise,
      [most](std::string_view text) {
        const auto number = ReadAll<std::size_t>(text);
        return number && *number <= most ? number : std::nullopt;
      },
      "is not a number from 0 to " + std::to_string(most));
}

float EnvironmentReader::Share(std::string_view name, float otherwise) {
  return Value(
      name, otherwise,
      [](std::string_view text) {
        const auto share = ReadAll<float>(text);
        return share && *share >= 0 && *share <= 1 ? share : std::nullopt;
      },
      "is not a number from 0 to 1");
}

Duration EnvironmentReader::Time(std::string_view name, Duration otherwise) {
  return Value(
      name, otherwise,
      [](std::string_view text) {
        const std::optional<Duration> time = ReadGoDuration(text);
        return time && *time >= Duration::zero() ? time : std::nullopt;
      },
      "is not a duration, such as 10s or 1h30m");
}

void EnvironmentReader::Fail(std::string_view name, std::string_view value, std::string_view why) {
  findings_.errors.push_back({std::string(name) + "=" + std::string(value) + " " + std::string(why),
                              {"environment", 0, 0}});
}

}  // namespace sluice::app
