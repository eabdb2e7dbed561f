#include "frontend/http/form_query.h"

#include <algorithm>

namespace sluice::frontend::http {

namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

constexpr std::string_view kBadEscape = "a % must be followed by two hex digits";
constexpr std::string_view kTwice = "an attribute is given twice";
constexpr std::string_view kTooMany = "more than 64 attributes";
constexpr std::string_view kNoName = "an attribute has no name";

}  // namespace

void FormQuery::Clear() {
  text_.clear();
  members_.clear();
  attributes_.clear();
}

bool FormQuery::Decode(std::string_view encoded, bool plus_is_space) {
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    const char c = encoded[i];
    if (c == '%') {
      const int high = i + 2 < encoded.size() ? HexDigit(encoded[i + 1]) : -1;
      const int low = high < 0 ? -1 : HexDigit(encoded[i + 2]);
      if (low < 0) {
        return false;
      }
      text_ += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      text_ += c == '+' && plus_is_space ? ' ' : c;
    }
  }
  return true;
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

tl::expected<void, std::string_view> FormQuery::AddSegment(std::string_view name,
                                                           std::string_view segment) {
  Member member{.name_begin = text_.size(), .value_begin = 0, .value_end = 0};
  text_ += name;
  member.value_begin = text_.size();
  if (!Decode(segment, false)) {
    return tl::unexpected(kBadEscape);
  }
  member.value_end = text_.size();
  members_.push_back(member);
  return {};
}

tl::expected<void, std::string_view> FormQuery::AddQuery(std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(pair.size() == query.size() ? pair.size() : pair.size() + 1);
    if (pair.empty()) {
      continue;
    }
    if (members_.size() == kMaxMembers) {
      return tl::unexpected(kTooMany);
    }
    const std::size_t equals = pair.find('=');
    Member member{.name_begin = text_.size(), .value_begin = 0, .value_end = 0};
    if (!Decode(pair.substr(0, equals), true)) {
      return tl::unexpected(kBadEscape);
    }
    member.value_begin = text_.size();
    if (member.value_begin == member.name_begin) {
      return tl::unexpected(kNoName);
    }
    if (Has(std::string_view(text_).substr(member.name_begin))) {
      return tl::unexpected(kTwice);
    }
    if (equals != std::string_view::npos && !Decode(pair.substr(equals + 1), true)) {
      return tl::unexpected(kBadEscape);
    }
    member.value_end = text_.size();
    members_.push_back(member);
  }
  return {};
}

Attributes FormQuery::attributes() {
  attributes_.clear();
  for (const Member& member : members_) {  // Only now: text_ no longer moves.
    attributes_.push_back({.name = NameOf(member), .value = ValueOf(member)});
  }
  return attributes_;
}

}  // namespace sluice::frontend::http
