#include "environment_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace sluice::app {

std::string EnvironmentReader::Text(std::string_view name, std::string_view otherwise) const {
  return environment_(name).value_or(std::string(otherwise));
}

bool EnvironmentReader::Bool(std::string_view name, bool otherwise) {
  const auto text = environment_(name);
  if (!text) {
    return otherwise;
  }
  constexpr std::array<std::string_view, 6> kTrue{"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse{"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kTrue, *text) != kTrue.end()) {
    return true;
  }
  if (std::ranges::find(kFalse, *text) == kFalse.end()) {
    Fail(name, *text, "is neither true nor false");
  }
  return false;
}

std::size_t EnvironmentReader::Number(std::string_view name, std::size_t otherwise,
                                      std::size_t most) {
  const auto text = environment_(name);
  if (!text) {
    return otherwise;
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (text->empty() || error != std::errc() || end != text->data() + text->size() ||
      number > most) {
    Fail(name, *text, "is no number from 0 to " + std::to_string(most));
    return otherwise;
  }
  return number;
}

float EnvironmentReader::Share(std::string_view name, float otherwise) {
  const auto text = environment_(name);
  if (!text) {
    return otherwise;
  }
  float share = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), share);
  if (error != std::errc() || end != text->data() + text->size() || !(share >= 0 && share <= 1)) {
    Fail(name, *text, "is no number from 0 to 1");
    return otherwise;
  }
  return share;
}

Duration EnvironmentReader::Time(std::string_view name, Duration otherwise) {
  const auto text = environment_(name);
  if (!text) {
    return otherwise;
  }
  const auto read = ReadGoDuration(*text);
  if (!read || *read < Duration::zero()) {
    Fail(name, *text, "is no duration, such as 10s or 1h30m");
    return otherwise;
  }
  return *read;
}

void EnvironmentReader::Fail(std::string_view name, std::string_view value, std::string_view why) {
  findings_.errors.push_back({std::string(name) + "=" + std::string(value) + " " + std::string(why),
                              {"environment", 0, 0}});
}

}  // namespace sluice::app
