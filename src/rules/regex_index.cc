#include "rules/regex_index.h"

#include <algorithm>
#include <string>

namespace sluice::rules {

namespace {

constexpr std::size_t kFewPatterns = 4;
constexpr std::int64_t kSetBytes = std::int64_t{64} << 20;

}  // namespace

void RegexIndex::Add(const Pattern& pattern, std::uint32_t rule) {
  const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.regex->pattern() == pattern.text;
  });
  if (same != entries_.end()) {
    same->rules.push_back(rule);
  } else {
    entries_.push_back({pattern.regex, {rule}});
  }
}

void RegexIndex::Seal() {
  if (entries_.size() <= kFewPatterns) {
    return;
  }
  auto set = std::make_unique<re2::RE2::Set>(RegexOptions(kSetBytes), re2::RE2::ANCHOR_BOTH);
  for (const Entry& entry : entries_) {
    if (set->Add(entry.regex->pattern(), nullptr) < 0) {
      return;
    }
  }
  if (set->Compile()) {
    set_ = std::move(set);
  }
}

bool RegexIndex::AskSet(std::string_view value, std::vector<int>& matched) const {
  re2::RE2::Set::ErrorInfo error{re2::RE2::Set::kNoError};
  matched.clear();
  return set_->Match(re2::StringPiece(value.data(), value.size()), &matched, &error) ||
         error.kind == re2::RE2::Set::kNoError;
}

void RegexIndex::AskEach(std::string_view value, std::vector<int>& matched) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *entries_[i].regex)) {
      matched.push_back(static_cast<int>(i));
    }
  }
}

}  // namespace sluice::rules
