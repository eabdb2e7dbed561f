#include "rules/fields.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "rules/spelling.h"

namespace sluice::rules {

const yaml::Node* Fields::Get(std::string_view name) const {
  for (std::size_t i = 0; i < map_->pair_count(); ++i) {
    if (map_->key(i).is_text() && map_->key(i).text == name) {
      return &map_->value(i);
    }
  }
  return nullptr;
}

const yaml::Node& Fields::KeyOf(std::string_view name) const {
  for (std::size_t i = 0; i < map_->pair_count(); ++i) {
    if (map_->key(i).is_text() && map_->key(i).text == name) {
      return map_->key(i);
    }
  }
  return *map_;
}

void Fields::RejectUnknown(std::span<const std::string_view> known, std::string_view what,
                           Reporter& report, std::span<const ForeignWord> foreign) const {
  for (std::size_t i = 0; i < map_->pair_count(); ++i) {
    const yaml::Node& key = map_->key(i);
    if (!key.is_text() || std::find(known.begin(), known.end(), key.text) != known.end()) {
      continue;
    }
    if (key.text == "<<" && !key.quoted) {
      continue;  // Reported by yaml::Tree.
    }
    if (const auto word = std::ranges::find(foreign, key.text, &ForeignWord::word);
        word != foreign.end()) {
      report.Fail(key, "unknown field " + key.text + ": " + std::string(word->remedy));
      continue;
    }
    const std::string suggestion = DidYouMean(key.text, known);
    report.Fail(key, "unknown field " + key.text +
                         (suggestion.empty() ? ": a " + std::string(what) + " has " + OneOf(known)
                                             : suggestion));
  }
}

}  // namespace sluice::rules
