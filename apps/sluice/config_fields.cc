#include "config_fields.h"

#include <algorithm>
#include <optional>
#include <string>

#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::app {

using rules::Reporter;
using rules::YamlNode;

void EachField(const YamlNode& map, std::string_view what, std::span<const std::string_view> known,
               Reporter& report,
               const std::function<void(std::string_view, const YamlNode&)>& read) {
  if (map.is_null()) {
    return;
  }
  if (!map.is_map()) {
    report.Fail(map, std::string(what) + " must be a map");
    return;
  }
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const YamlNode& key = map.key(i);
    if (std::find(known.begin(), known.end(), key.text) == known.end()) {
      report.Fail(key, "unknown field " + key.text + rules::DidYouMean(key.text, known));
    } else if (!map.value(i).is_null()) {
      read(key.text, map.value(i));
    }
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
