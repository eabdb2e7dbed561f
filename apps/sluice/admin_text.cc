#include "admin_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/display_text.h"

namespace sluice::app {

namespace {

namespace json = boost::json;

// An answer of ours; what is missing reads as "", 0 or false. A text is for reading, on one line.
class Answer {
 public:
  explicit Answer(const json::value& value) : value_(value) {}

  [[nodiscard]] std::string Text(const char* member) const {
    const json::value* const found = Find(member);
    return found != nullptr && found->is_string() ? base::DisplayText(found->as_string()) : "";
  }
  [[nodiscard]] std::int64_t Number(const char* member) const {
    const json::value* const found = Find(member);
    return found != nullptr && found->is_int64() ? found->as_int64() : 0;
  }
  [[nodiscard]] bool Truth(const char* member) const {
    const json::value* const found = Find(member);
    return found != nullptr && found->is_bool() && found->as_bool();
  }
  [[nodiscard]] const json::value* Find(const char* member) const {
    const json::object* const object = value_.if_object();
    return object == nullptr ? nullptr : object->if_contains(member);
  }

 private:
  const json::value& value_;
};

// `tell` of the parsed answer, or the answer as it is where it has no `member`.
template <class Tell>
std::string TellOf(const std::string& answer, const char* member, Tell tell) {
  json::error_code error;
  const json::value parsed = json::parse(answer, error);
  if (error || Answer(parsed).Find(member) == nullptr) {
    return answer + "\n";
  }
  return tell(Answer(parsed));
}

std::string Counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string TellKeys(const std::string& answer, std::string_view done) {
  return TellOf(answer, "keys", [done](const Answer& keys) {
    return fmt::format(
        "{} {}{}\n", Counted(keys.Number("keys"), "key"), done,
        keys.Truth("complete")
            ? ""
            : "; keys of concurrency rules were not changed: release their holds instead");
  });
}

}  // namespace

std::string TellMode(const std::string& answer) {
  return TellOf(answer, "rule_id", [](const Answer& mode) {
    const std::string origin =
        mode.Truth("set") ? fmt::format("set at run time on this node; the rule's own mode is {}",
                                        mode.Text("configured_mode"))
                          : "the rule's own mode";
    return fmt::format(
        "{}: {} ({})\n{}", mode.Text("rule_id"), mode.Text("mode"), origin,
        mode.Truth("kill_switch") ? "the kill switch is on: every request is allowed\n" : "");
  });
}

std::string TellKillSwitch(const std::string& answer) {
  return TellOf(answer, "on", [](const Answer& state) {
    return std::string(state.Truth("on")
                           ? "the kill switch is on: every request is allowed, nothing is counted\n"
                           : "the kill switch is off: the rules are active\n");
  });
}

std::string TellReset(const std::string& answer) {
  return TellKeys(answer, "reset");
}

std::string TellRefund(const std::string& answer) {
  return TellKeys(answer, "refunded");
}

std::string TellUnban(const std::string& answer) {
  return TellOf(answer, "lifted", [](const Answer& bans) {
    return Counted(bans.Number("lifted"), "ban") + " lifted\n";
  });
}

std::string TellRelease(const std::string& answer) {
  return TellOf(answer, "released", [](const Answer& holds) {
    return std::string(holds.Number("released") == 0
                           ? "the hold had already been released or had expired\n"
                           : "released\n");
  });
}

std::string TellBans(const std::string& answer) {
  return TellOf(answer, "bans", [](const Answer& answered) {
    std::string text;
    const json::value& bans = *answered.Find("bans");
    for (const json::value& item : bans.is_array() ? bans.as_array() : json::array()) {
      const Answer ban(item);
      constexpr std::int64_t kSecond = 1000;
      std::string key;
      if (const json::value* const attributes = ban.Find("attributes");
          attributes != nullptr && attributes->is_object()) {
        for (const auto& attribute : attributes->as_object()) {
          const json::value& value = attribute.value();
          key += fmt::format("{}{}={}", key.empty() ? "" : " ", base::DisplayText(attribute.key()),
                             value.is_string() ? base::DisplayText(value.as_string()) : "");
        }
      }
      text += fmt::format("{:<24} {}  for another {} s\n", ban.Text("rule"), key,
                          (ban.Number("left_ms") + kSecond - 1) / kSecond);
    }
    return text.empty() ? "no key is banned\n" : text;
  });
}

std::string TellUsage(const std::string& answer) {
  return TellOf(answer, "limits", [](const Answer& usage) {
    const json::value* const limits = usage.Find("limits");
    if (!limits->is_array() || limits->as_array().empty()) {
      return std::string("no limit applies to this descriptor\n");
    }
    std::string text;
    for (const json::value& value : limits->as_array()) {
      const Answer limit(value);
      std::string unit = limit.Text("unit");
      std::ranges::transform(unit, unit.begin(), [](unsigned char c) { return std::tolower(c); });
      text += base::DisplayText(limit.Text("path"));
      text += fmt::format(": {} of {} per {} left", limit.Number("remaining"),
                          limit.Number("limit"), unit);
      const std::int64_t wait = limit.Number("retry_after_ms");
      text += limit.Truth("allowed") ? "\n"
              : wait > 0             ? fmt::format(", denied for {} s more\n", (wait + 999) / 1000)
                                     : std::string(", denied\n");
    }
    return text;
  });
}

}  // namespace sluice::app
