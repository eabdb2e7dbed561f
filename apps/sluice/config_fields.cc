#include "config_fields.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "rules/spelling.h"
#include "rules/value_reader.h"

namespace sluice::app {

using rules::Reporter;

namespace {

bool IsEmpty(const yaml::Node& value) {
  return value.is_null() || (value.is_text() && value.text.empty());
}

}  // namespace

void ReadFields(const yaml::Node& node, const ConfigMap& map, std::span<const FieldReader> readers,
                Reporter& report) {
  SLUICE_ASSERT(readers.size() == map.fields.size());
  if (node.is_null()) {
    return;
  }
  if (!node.is_map()) {
    report.Fail(node, std::string(map.called) + " must be a map");
    return;
  }
  for (std::size_t i = 0; i < node.pair_count(); ++i) {
    const yaml::Node& key = node.key(i);
    const auto field = std::ranges::find(map.fields, key.text, &ConfigField::name);
    if (field != map.fields.end()) {
      if (field->is_guard && IsEmpty(node.value(i))) {
        report.Fail(key, key.text + " is empty: give it a value, or remove the line to do without");
      } else if (!node.value(i).is_null()) {
        const auto reader = std::ranges::find(readers, key.text, &FieldReader::name);
        SLUICE_ASSERT(reader != readers.end());
        reader->read(node.value(i));
      }
      continue;
    }
    std::vector<std::string_view> known;
    for (const ConfigField& other : map.fields) {
      if (!other.is_refused) {
        known.push_back(other.name);
      }
    }
    const std::string suggestion = rules::DidYouMean(key.text, known);
    report.Fail(key, "unknown field " + key.text +
                         (suggestion.empty()
                              ? ": " + std::string(map.called) + " has " + rules::OneOf(known)
                              : suggestion));
  }
}

void EachItem(const yaml::Node& list, std::string_view what, Reporter& report,
              const std::function<void(const yaml::Node&)>& read) {
  if (!list.is_list()) {
    report.Fail(list, std::string(what) + " must be a list");
    return;
  }
  for (const yaml::Node* item : list.items) {
    read(*item);
  }
}

void ReadCount(const yaml::Node& node, const ConfigField& field, Reporter& report,
               std::size_t& count) {
  const bool negative = node.is_text() && node.text.starts_with('-');
  const auto number = negative ? std::nullopt : rules::ReadUnits(node, field.name, report);
  if (negative || (number && (*number < *field.least || *number > *field.most))) {
    report.Fail(node, std::string(field.name) + " must be " + std::to_string(*field.least) +
                          " to " + std::to_string(*field.most));
  } else if (number) {
    count = static_cast<std::size_t>(*number);
  }
}

std::optional<std::size_t> ReadWord(const yaml::Node& node, const ConfigField& field,
                                    Reporter& report) {
  return rules::ReadWord(node, field.name, field.words, report);
}

}  // namespace sluice::app
