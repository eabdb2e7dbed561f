#include "rules/value_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/number_text.h"
#include "rules/spelling.h"

namespace sluice::rules {

namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

// How a message calls a value of an unexpected kind.
std::string Shown(const yaml::Node& node) {
  constexpr std::size_t kShown = 40;
  switch (node.kind) {
    case yaml::Node::Kind::kNull:
      return "nothing";
    case yaml::Node::Kind::kList:
      return "a list";
    case yaml::Node::Kind::kMap:
      return "a map";
    case yaml::Node::Kind::kText:
      break;
  }
  const std::string text =
      node.text.size() > kShown ? node.text.substr(0, kShown) + "..." : node.text;
  return node.quoted ? '"' + text + '"' : text;
}

std::string Is(std::string_view field, const yaml::Node& node) {
  return std::string(field) + " is " + Shown(node);
}

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array kUnits{Unit{"ms", std::chrono::milliseconds(1)},
                            Unit{"s", std::chrono::seconds(1)}, Unit{"m", std::chrono::minutes(1)},
                            Unit{"h", std::chrono::hours(1)}, Unit{"d", std::chrono::hours(24)}};
constexpr Duration kLongest = std::chrono::hours(24) * 365 * 290;

// Units of time as other rate limiters write them after a number: 3/m, 100r/s, 5 per hour.
struct Per {
  std::string_view word;
  std::string_view window;
};
constexpr std::array kPers{
    Per{"s", "1s"},      Per{"sec", "1s"}, Per{"second", "1s"}, Per{"m", "1m"},   Per{"min", "1m"},
    Per{"minute", "1m"}, Per{"h", "1h"},   Per{"hour", "1h"},   Per{"day", "1d"}, Per{"d", "1d"}};

// "write rate: 3 and window: 1m" for 3/m; "" if `text` is not a number per time.
std::string SplitRate(std::string_view text, std::string_view field) {
  const auto digits =
      static_cast<std::size_t>(std::ranges::find_if_not(text, IsDigit) - text.begin());
  std::string_view rest = text.substr(digits);
  for (const std::string_view between : {" ", "r", "/", "per", " "}) {
    rest.remove_prefix(rest.starts_with(between) ? between.size() : 0);
  }
  const auto* const per = std::ranges::find(kPers, rest, &Per::word);
  if (digits == 0 || per == kPers.end()) {
    return "";
  }
  return "write " + std::string(field) + ": " + std::string(text.substr(0, digits)) +
         " and window: " + std::string(per->window);
}

}  // namespace

std::optional<Units> ReadUnits(const yaml::Node& node, std::string_view field, Reporter& report) {
  const auto fail = [&](std::string_view remedy) -> std::optional<Units> {
    report.Fail(node, Is(field, node) + ": " + std::string(remedy));
    return std::nullopt;
  };
  if (!node.is_text()) {
    return fail("write a whole number from 0 to 999999999999999");
  }
  if (AllDigits(node.text)) {
    if (node.quoted) {
      return fail("write it without quotes, " + std::string(field) + ": " + node.text);
    }
    if (node.text.size() > 1 && node.text.front() == '0') {
      return fail("write the number without leading zeros");
    }
    if (node.text.size() > 15) {
      return fail("the largest number is 999999999999999");
    }
    Units units = 0;
    for (const char c : node.text) {
      units = (units * 10) + (c - '0');
    }
    return units;
  }
  const std::string_view text = node.text;
  if (text.starts_with('-') && AllDigits(text.substr(1))) {
    return fail(
        "it cannot be negative; 0 denies everything, and limit: unlimited allows everything");
  }
  if (const std::string split = field == "rate" || field == "limit" ? SplitRate(text, field) : "";
      !split.empty()) {
    return fail(split);
  }
  if (text.find_first_of(".eE") != text.npos && IsDigit(text.empty() ? 'x' : text.front())) {
    return fail("write a whole number in digits, without fraction or exponent");
  }
  if (text == "unlimited") {
    return fail("only limit may be unlimited: write limit: unlimited");
  }
  return fail("write a whole number from 0 to 999999999999999");
}

std::optional<Duration> ReadDuration(const yaml::Node& node, std::string_view field,
                                     Reporter& report) {
  const std::string_view text = node.text;
  const auto end = std::find_if_not(text.begin(), text.end(), IsDigit);
  const auto digits = static_cast<std::size_t>(end - text.begin());
  const std::string_view suffix = text.substr(digits);
  if (node.is_text() && digits > 0) {
    for (const Unit& unit : kUnits) {
      if (unit.name != suffix) {
        continue;
      }
      // Fifteen digits fit. The product is checked before it is computed.
      std::int64_t count = 0;
      for (const char c : text.substr(0, std::min<std::size_t>(digits, 18))) {
        count = (count * 10) + (c - '0');
      }
      if (digits > 18 || count > kLongest / unit.length) {
        report.Fail(node, Is(field, node) + ": that is too long, the longest is 290 years");
        return std::nullopt;
      }
      return unit.length * count;
    }
    if (suffix.empty()) {
      report.Fail(node, Is(field, node) + ": a unit is missing, write " + std::string(text) +
                            "s for seconds");
      return std::nullopt;
    }
  }
  report.Fail(node, Is(field, node) +
                        ": write a whole number and one of ms, s, m, h, d, as in 250ms, 10s, 15m, "
                        "1h or 30d");
  return std::nullopt;
}

std::optional<bool> ReadBool(const yaml::Node& node, std::string_view field, Reporter& report) {
  if (node.is_text() && !node.quoted && (node.text == "true" || node.text == "false")) {
    return node.text == "true";
  }
  report.Fail(node, Is(field, node) + ": write true or false");
  return std::nullopt;
}

std::optional<std::string> ReadText(const yaml::Node& node, std::string_view field,
                                    Reporter& report) {
  if (node.is_text()) {
    return node.text;
  }
  report.Fail(node, Is(field, node) + ": write a text" +
                        (node.is_null() ? " (the word null in quotes)" : ""));
  return std::nullopt;
}

std::optional<std::string> ReadAttributeValue(const yaml::Node& node, std::string_view field,
                                              Reporter& report) {
  auto text = ReadText(node, field, report);
  if (text && !node.quoted && IsJsonNumber(*text)) {
    NumberBuffer buffer{};
    if (const std::string number(NumberText(*text, buffer)); number != *text) {
      report.Fail(node, Is(field, node) + ": in a JSON request this number is " + number +
                            ": write " + number + ", or \"" + *text + "\" for the exact text");
      return std::nullopt;
    }
  }
  constexpr std::array<std::array<std::string_view, 2>, 4> kBooleans{
      {{"True", "true"}, {"TRUE", "true"}, {"False", "false"}, {"FALSE", "false"}}};
  for (const auto& [written, boolean] : kBooleans) {
    if (text && !node.quoted && *text == written) {
      report.Fail(node, Is(field, node) + ": in a JSON request this boolean is " +
                            std::string(boolean) + ": write " + std::string(boolean) + ", or \"" +
                            *text + "\" for the exact text");
      return std::nullopt;
    }
  }
  return text;
}

std::optional<std::size_t> ReadWord(const yaml::Node& node, std::string_view field,
                                    std::span<const std::string_view> words, Reporter& report) {
  if (node.is_text()) {
    const auto found = std::find(words.begin(), words.end(), node.text);
    if (found != words.end()) {
      return static_cast<std::size_t>(found - words.begin());
    }
    if (node.text == "false" && words.back() == "off") {
      report.Fail(node, Is(field, node) + ": write off (in quotes, if a tool turns it into false)");
      return std::nullopt;
    }
  }
  report.Fail(node, Is(field, node) + ": write " + OneOf(words) +
                        (node.is_text() ? DidYouMean(node.text, words) : ""));
  return std::nullopt;
}

std::optional<core::Sync> ReadSync(const yaml::Node& node, Reporter& report) {
  using core::Sync;
  constexpr std::array kSyncs{Sync::kExact, Sync::kLease, Sync::kLocal};
  const std::array words{core::NameOf(kSyncs[0]), core::NameOf(kSyncs[1]), core::NameOf(kSyncs[2])};
  const auto word = ReadWord(node, "sync", words, report);
  return word.has_value() ? std::optional(kSyncs[*word]) : std::nullopt;
}

std::optional<std::string> ReadId(const yaml::Node& node, std::string_view field,
                                  Reporter& report) {
  constexpr std::size_t kLongestId = 64;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '.' || c == '_' ||
           c == '-';
  };
  if (node.is_text() && !node.text.empty() && node.text.size() <= kLongestId &&
      std::all_of(node.text.begin(), node.text.end(), fits)) {
    return node.text;
  }
  report.Fail(node, Is(field, node) + ": an id has 1 to 64 of the characters A-Z a-z 0-9 . _ -");
  return std::nullopt;
}

bool IsAttributeName(std::string_view name) {
  constexpr std::size_t kLongestName = 128;
  return !name.empty() && name.size() <= kLongestName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return c > ' ' && c < 0x7f && c != '{' && c != '}' && c != '"' && c != '\'';
         });
}

std::string DurationText(Duration duration) {
  for (std::size_t i = kUnits.size(); i-- > 0;) {
    if (duration.count() != 0 && duration % kUnits[i].length == Duration(0)) {
      return std::to_string(duration / kUnits[i].length) + std::string(kUnits[i].name);
    }
  }
  return std::to_string(duration.count()) + "ns";
}

}  // namespace sluice::rules
