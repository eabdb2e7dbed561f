#include "wire/form_query.h"

#include <algorithm>

#include "base/utf8.h"

namespace sluice::wire {

namespace {

constexpr std::string_view kBadEscape =
    "a % must be followed by two hex digits, and the decoded bytes must be UTF-8";
constexpr std::string_view kTwice = "an attribute is given twice";
constexpr std::string_view kTooMany = "more than 64 attributes";
constexpr std::string_view kTooLong =
    "an attribute's name has more than 256 bytes or its value more than 1024";
static_assert(FormQuery::kLimits.members == 64 && FormQuery::kLimits.name_bytes == 256 &&
              FormQuery::kLimits.value_bytes == 1024);
constexpr std::string_view kNoName = "an attribute has no name";

}  // namespace

void FormQuery::Clear() {
  text_.clear();
  members_.clear();
  attributes_.clear();
}

std::string_view FormQuery::NameOf(const Member& member) const {
  return std::string_view(text_).substr(member.name_begin, member.value_begin - member.name_begin);
}

std::string_view FormQuery::ValueOf(const Member& member) const {
  return std::string_view(text_).substr(member.value_begin, member.value_end - member.value_begin);
}

bool FormQuery::Has(std::string_view name) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const Member& member) { return NameOf(member) == name; });
}

std::optional<std::string_view> FormQuery::Remove(std::string_view name) {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [&](const Member& member) { return NameOf(member) == name; });
  if (found == members_.end()) {
    return std::nullopt;
  }
  const std::string_view value = ValueOf(*found);
  members_.erase(found);
  return value;
}

tl::expected<void, std::string_view> FormQuery::AddValue(Member member, std::string_view encoded,
                                                         UrlPart part) {
  member.value_begin = text_.size();
  if (!AppendPercentDecoded(text_, encoded, part)) {
    return tl::unexpected(kBadEscape);
  }
  member.value_end = text_.size();
  if (member.value_begin - member.name_begin > kLimits.name_bytes ||
      member.value_end - member.value_begin > kLimits.value_bytes) {
    return tl::unexpected(kTooLong);
  }
  members_.push_back(member);
  return {};
}

tl::expected<void, std::string_view> FormQuery::AddSegment(std::string_view name,
                                                           std::string_view segment) {
  if (Has(name)) {
    return tl::unexpected(kTwice);
  }
  if (members_.size() >= kLimits.members) {
    return tl::unexpected(kTooMany);
  }
  const Member member{.name_begin = text_.size(), .value_begin = 0, .value_end = 0};
  text_ += name;
  return AddValue(member, segment, UrlPart::kPath);
}

tl::expected<void, std::string_view> FormQuery::AddPath(std::string_view name,
                                                        std::string_view path,
                                                        const PathSettings& settings) {
  if (Has(name)) {
    return tl::unexpected(kTwice);
  }
  if (members_.size() >= kLimits.members) {
    return tl::unexpected(kTooMany);
  }
  Member member{.name_begin = text_.size(), .value_begin = 0, .value_end = 0};
  text_ += name;
  member.value_begin = text_.size();
  if (!settings.strict) {
    AppendPercentDecodedLeniently(text_, path);
  } else if (auto normal = AppendNormalPath(text_, path, settings); !normal) {
    return normal;
  }
  member.value_end = text_.size();
  if (member.value_end - member.value_begin > kLimits.value_bytes) {
    return tl::unexpected(kTooLong);
  }
  members_.push_back(member);
  return {};
}

bool FormQuery::AddValue(std::string_view name, std::string_view value) {
  if (Has(name) || members_.size() >= kLimits.members || name.size() > kLimits.name_bytes ||
      value.size() > kLimits.value_bytes || !base::IsUtf8(value)) {
    return false;
  }
  const std::size_t begin = text_.size();
  text_.append(name).append(value);
  members_.push_back(
      {.name_begin = begin, .value_begin = begin + name.size(), .value_end = text_.size()});
  return true;
}

tl::expected<void, std::string_view> FormQuery::AddQuery(std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
    if (pair.empty()) {
      continue;
    }
    if (members_.size() == kLimits.members) {
      return tl::unexpected(kTooMany);
    }
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const Member member{.name_begin = text_.size(), .value_begin = 0, .value_end = 0};
    if (!AppendPercentDecoded(text_, pair.substr(0, equals), UrlPart::kQuery)) {
      return tl::unexpected(kBadEscape);
    }
    const std::string_view name = std::string_view(text_).substr(member.name_begin);
    if (name.empty()) {
      return tl::unexpected(kNoName);
    }
    if (Has(name)) {
      return tl::unexpected(kTwice);
    }
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    if (auto added = AddValue(member, value, UrlPart::kQuery); !added) {
      return added;
    }
  }
  return {};
}

Attributes FormQuery::attributes() {
  attributes_.clear();
  for (const Member& member : members_) {  // Only now, because text_ no longer moves.
    attributes_.push_back({.name = NameOf(member), .value = ValueOf(member)});
  }
  return attributes_;
}

}  // namespace sluice::wire
