#include <algorithm>
#include <cstddef>

#include "base/fault.h"
#include "core/key.h"
#include "rules/rule_reader.h"
#include "rules/value_reader.h"

namespace sluice::rules {

namespace {

constexpr std::size_t kMaxPatternBytes = 1024;

tl::unexpected<Error> PatternFault(const std::string& message) {
  return Fault("key_pattern: " + message);
}

}  // namespace

Result<std::vector<std::string>> ParseKeyPattern(std::string_view pattern) {
  if (pattern.empty()) {
    return PatternFault(
        "it is empty: write user:{user_id}, or a word for one key that all requests share");
  }
  if (pattern.size() > kMaxPatternBytes) {
    return PatternFault("it is longer than " + std::to_string(kMaxPatternBytes) + " bytes");
  }
  std::vector<std::string> names;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t brace = pattern.find_first_of("{}", at);
    if (brace == pattern.npos) {
      break;
    }
    if (pattern[brace] == '}') {
      return PatternFault("a } without its { at character " + std::to_string(brace + 1));
    }
    if (pattern.substr(brace).starts_with("{{")) {
      const std::size_t name_end = std::min(pattern.find('}', brace), pattern.size());
      return PatternFault("\"" + std::string(pattern) + "\": write single braces, {" +
                          std::string(pattern.substr(brace + 2, name_end - brace - 2)) + "}");
    }
    const std::size_t end = pattern.find_first_of("{}", brace + 1);
    if (end == brace + 1 && pattern[end] == '{') {
      return PatternFault("{{ at character " + std::to_string(brace + 1) +
                          ": write single braces, as in {user_id}");
    }
    if (end == pattern.npos || pattern[end] == '{') {
      return PatternFault("the { at character " + std::to_string(brace + 1) + " is not closed");
    }
    std::string name(pattern.substr(brace + 1, end - brace - 1));
    if (!IsAttributeName(name)) {
      return PatternFault("{" + name +
                          "} is not an attribute name: a name has no spaces, quotes or braces and "
                          "is not empty");
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return PatternFault("{" + name + "} is given twice");
    }
    names.push_back(std::move(name));
    at = end + 1;
  }
  if (names.size() > core::kMaxKeyParts) {
    return PatternFault("more than " + std::to_string(core::kMaxKeyParts) + " attributes");
  }
  return names;
}

}  // namespace sluice::rules
