#include "envoy/value_pattern.h"

#include <utility>

#include "rules/regex_index.h"

namespace sluice::envoy {

namespace {

// Bounds what one expression may cost to compile and to run (RE2's own default is 8 MiB).
constexpr std::int64_t kRegexBytes = 1 << 20;

}  // namespace

// The texts before the first star and after the last must be at the ends, not overlapping; each
// piece between two stars is then taken where it first occurs. The first place is as good as any:
// what comes after it has the most room.
bool MatchesWildcard(std::string_view pattern, std::string_view text) {
  const std::size_t first = pattern.find('*');
  if (first == std::string_view::npos) {
    return pattern == text;
  }
  const std::string_view prefix = pattern.substr(0, first);
  const std::string_view suffix = pattern.substr(pattern.rfind('*') + 1);
  if (text.size() < prefix.size() + suffix.size() || !text.starts_with(prefix) ||
      !text.ends_with(suffix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  pattern.remove_prefix(prefix.size());
  pattern.remove_suffix(suffix.size());  // Begins and ends with a star now.
  while (!pattern.empty()) {
    pattern.remove_prefix(1);
    const std::string_view piece = pattern.substr(0, pattern.find('*'));
    const std::size_t at = text.find(piece);
    if (at == std::string_view::npos) {
      return false;
    }
    text.remove_prefix(at + piece.size());
    pattern.remove_prefix(piece.size());
  }
  return true;
}

tl::expected<ValuePattern, std::string> ValuePattern::Create(Kind kind, const std::string& text) {
  ValuePattern pattern;
  pattern.kind_ = kind;
  if (kind == Kind::kRegex) {
    auto regex = std::make_shared<const re2::RE2>(text, rules::RegexOptions(kRegexBytes));
    if (!regex->ok()) {
      return tl::unexpected("value_regex is not an RE2 expression: " + regex->error());
    }
    pattern.regex_ = std::move(regex);
  } else if (kind == Kind::kCidr) {
    const auto cidr = rules::IpPrefix::Parse(text);
    if (!cidr) {
      return tl::unexpected("value_cidr `" + text + "` is not an address block such as 10.0.0.0/8");
    }
    if (cidr->HasHostBits()) {
      const rules::IpPrefix block{cidr->network.Masked(cidr->length), cidr->length};
      return tl::unexpected("value_cidr `" + text + "` has bits behind its prefix: write " +
                            std::string(block.Text().view()));
    }
    pattern.cidr_ = *cidr;
  }
  return pattern;
}

bool ValuePattern::Matches(std::string_view value) const {
  if (kind_ == Kind::kRegex) {
    return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *regex_);
  }
  if (kind_ == Kind::kCidr) {
    const auto address = rules::IpAddress::Parse(value);
    return address && cidr_.Contains(*address);
  }
  return false;
}

}  // namespace sluice::envoy
