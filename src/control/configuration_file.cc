#include "control/configuration_file.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rules/fields.h"
#include "rules/findings.h"
#include "sources/files.h"
#include "yaml/tree.h"

namespace sluice::control {

namespace {

bool IsRuleSection(std::string_view name) {
  return name == "rules" || name == "attributes";
}

// As deep as a yaml::Tree may be.
bool Same(const yaml::Node& one, const yaml::Node& other) {  // NOLINT(misc-no-recursion)
  return one.kind == other.kind && one.quoted == other.quoted && one.text == other.text &&
         std::ranges::equal(one.items, other.items,
                            [](const yaml::Node* a, const yaml::Node* b) { return Same(*a, *b); });
}

bool IsEmpty(const std::string& text, const std::string& file) {
  std::vector<Error> problems;
  return yaml::Tree(text, file, problems).root().is_null() && problems.empty();
}

// Adds the fields of `map` that `other` lacks or has otherwise.
void AddDifferent(const yaml::Node& map, const yaml::Node& other, std::vector<std::string>& names) {
  for (std::size_t i = 0; i < map.pair_count(); ++i) {
    const std::string& name = map.key(i).text;
    const yaml::Node* const value = rules::Fields(other).Get(name);
    if (!IsRuleSection(name) && (value == nullptr || !Same(*value, map.value(i))) &&
        std::ranges::find(names, name) == names.end()) {
      names.push_back(name);
    }
  }
}

}  // namespace

ConfigurationFile::ConfigurationFile(rules::SourceText at_start, Check check)
    : at_start_(std::move(at_start)), check_(std::move(check)), last_(at_start_.text) {}

tl::expected<rules::SourceText, std::vector<Error>> ConfigurationFile::Read() {
  if (path().empty()) {
    return at_start_;
  }
  auto text = sources::ReadFile(path());
  if (!text) {
    return tl::unexpected(std::vector<Error>{std::move(text.error())});
  }
  if (*text != last_) {
    rules::Findings findings;
    check_(*text, path(), findings);
    if (findings.errors.empty() && IsEmpty(*text, path()) && !IsEmpty(last_, path())) {
      findings.errors.push_back({.message = "the file is empty: for no rules write rules: []",
                                 .place = {.file = path()}});
    }
    if (!findings.errors.empty()) {
      return tl::unexpected(std::move(findings.errors));
    }
    last_ = *std::move(text);
  }
  return rules::SourceText{.name = path(), .text = last_, .is_configuration = true};
}

std::vector<std::string> ConfigurationFile::ChangedSections() const {
  std::vector<Error> problems;
  const yaml::Tree first(at_start_.text, "", problems);
  const yaml::Tree second(last_, "", problems);
  std::vector<std::string> names;
  AddDifferent(second.root(), first.root(), names);
  AddDifferent(first.root(), second.root(), names);
  return names;
}

}  // namespace sluice::control
