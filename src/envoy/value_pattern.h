#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <re2/re2.h>
#include <tl/expected.hpp>

#include "rules/ip_address.h"

namespace sluice::envoy {

[[nodiscard]] constexpr bool HasWildcard(std::string_view text) {
  return text.find('*') != std::string_view::npos;
}

// Whether `text` matches `pattern`, in which each `*` matches any bytes or none and nothing is
// escaped. Takes time linear in both.
[[nodiscard]] bool MatchesWildcard(std::string_view pattern, std::string_view text);

// A descriptor's value that is neither a text nor one with stars: `value_regex`, `value_cidr`.
class ValuePattern {
 public:
  enum class Kind : std::uint8_t { kText, kRegex, kCidr };

  ValuePattern() = default;  // kText: matches nothing, as it is not asked.

  // The error says what is wrong with `text`, and the remedy.
  [[nodiscard]] static tl::expected<ValuePattern, std::string> Create(Kind kind,
                                                                      const std::string& text);

  [[nodiscard]] Kind kind() const { return kind_; }
  // kRegex: whether the expression matches all of `value`. kCidr: whether it is an address, with a
  // port or without, in the block.
  [[nodiscard]] bool Matches(std::string_view value) const;

 private:
  Kind kind_ = Kind::kText;
  std::shared_ptr<const re2::RE2> regex_;
  rules::IpPrefix cidr_;
};

}  // namespace sluice::envoy
