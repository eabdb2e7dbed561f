#include "config_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::app {

using rules::Reporter;
using rules::YamlNode;

namespace {

// Left out, each of these leaves a listener open or a connection in clear. One that is there and
// empty is a slip, such as a template's variable that is not set.
constexpr std::array<std::string_view, 12> kGuards{
    "auth", "tls",      "client_ca",     "client_name", "ca",       "cert",
    "key",  "username", "password_file", "token_file",  "password", "token"};

bool IsEmptyGuard(const YamlNode& key, const YamlNode& value) {
  return (value.is_null() || (value.is_text() && value.text.empty())) &&
         std::ranges::find(kGuards, key.text) != kGuards.end();
}

}  // namespace

void ReadFields(const YamlNode& map, std::string_view what, std::span<const ConfigField> fields,
                Reporter& report) {
  if (map.is_null()) {
    return;
  }
  if (!map.is_map()) {
    report.Fail(map, std::string(what) + " must be a map");
    return;
  }
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const YamlNode& key = map.key(i);
    const auto field = std::ranges::find(fields, key.text, &ConfigField::name);
    if (field != fields.end()) {
      if (IsEmptyGuard(key, map.value(i))) {
        report.Fail(key, key.text + " is empty: give it a value, or remove the line to do without");
      } else if (!map.value(i).is_null()) {
        field->read(map.value(i));
      }
      continue;
    }
    std::vector<std::string_view> known;
    for (const ConfigField& other : fields) {
      if (!other.is_refused) {
        known.push_back(other.name);
      }
    }
    const std::string suggestion = rules::DidYouMean(key.text, known);
    report.Fail(key,
                "unknown field " + key.text +
                    (suggestion.empty() ? ": " + std::string(what) + " has " + rules::OneOf(known)
                                        : suggestion));
  }
}

void EachItem(const YamlNode& list, std::string_view what, Reporter& report,
              const std::function<void(const YamlNode&)>& read) {
  if (!list.is_list()) {
    report.Fail(list, std::string(what) + " must be a list");
    return;
  }
  for (const YamlNode* item : list.items) {
    read(*item);
  }
}

void ReadCount(const YamlNode& node, std::string_view field, Units least, Units most,
               Reporter& report, std::size_t& count) {
  const bool negative = node.is_text() && node.text.starts_with('-');
  const auto number = negative ? std::nullopt : rules::ReadUnits(node, field, report);
  if (negative || (number && (*number < least || *number > most))) {
    report.Fail(node, std::string(field) + " must be " + std::to_string(least) + " to " +
                          std::to_string(most));
  } else if (number) {
    count = static_cast<std::size_t>(*number);
  }
}

}  // namespace sluice::app
