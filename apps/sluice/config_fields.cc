#include "config_fields.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::app {

using rules::Reporter;
using rules::YamlNode;

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
      if (!map.value(i).is_null()) {
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
