#include "environment_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

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
