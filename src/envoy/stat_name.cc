#include "envoy/stat_name.h"

#include "envoy/descriptor_tree.h"
#include "wire/ascii.h"

namespace sluice::envoy {

namespace {

// How many characters of a dotted quad stand at the front of `text`; 0 if none does.
std::size_t QuadSize(std::string_view text) {
  std::size_t at = 0;
  for (int group = 0; group < 4; ++group) {
    if (group > 0) {
      if (at >= text.size() || text[at] != '.') {
        return 0;
      }
      ++at;
    }
    std::size_t digits = 0;
    while (digits < 3 && at < text.size() && wire::IsDigit(text[at])) {
      ++at;
      ++digits;
    }
    if (digits == 0) {
      return 0;
    }
  }
  return at;
}

std::string Joined(std::string_view key, std::string_view value) {
  std::string part = StatPart(key);
  if (!value.empty()) {
    part += '_';
    part += StatPart(value);
  }
  return part;
}

}  // namespace

std::string StatPart(std::string_view text) {
  std::string part;
  part.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const bool begins = wire::IsDigit(text[i]) && (i == 0 || !wire::IsDigit(text[i - 1]));
    const std::size_t quad = begins ? QuadSize(text.substr(i)) : 0;
    if (quad != 0) {
      for (const char c : text.substr(i, quad)) {
        part += c == '.' ? '_' : c;
      }
      i += quad;
      continue;
    }
    part += text[i] == ':' || text[i] == '|' ? '_' : text[i];
    ++i;
  }
  return part;
}

StatName NameWithValues(std::string_view domain, const Match& match,
                        std::span<const wire::RlsEntry> entries) {
  StatName name{StatPart(domain)};
  for (std::size_t i = 0; i < match.way.size(); ++i) {
    const auto [node, by] = match.way[i];
    const bool has_value = match.limits.front()->detailed_metric ||
                           (node->value_to_metric && by != DescriptorLevel::By::kValue);
    if (!match.shared[i].empty() || !has_value) {
      name.push_back(StatPart(node->Name()));
    } else {
      name.push_back(Joined(entries[i].key, entries[i].value));
    }
  }
  return name;
}

StatName NameOfOverride(std::string_view domain, std::span<const wire::RlsEntry> entries) {
  StatName name{StatPart(domain)};
  for (const wire::RlsEntry& entry : entries) {
    name.push_back(Joined(entry.key, entry.value));
  }
  return name;
}

}  // namespace sluice::envoy
