#include "envoy/value_pattern.h"

#include <utility>

#include "rules/regex_index.h"

namespace sluice::envoy {

namespace {
// Bounds what one expression may cost to compile and to run (RE2's own default is 8 MiB).
constexpr std::int64_t kRegexBytes = 1 << 20;
}  // namespace

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
