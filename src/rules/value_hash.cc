#include "rules/value_hash.h"

#include <algorithm>

#include "base/blake2s.h"

namespace sluice::rules {

namespace {

constexpr std::string_view kPrefix = "h1:";

}  // namespace

ValueHash::ValueHash(std::string_view secret) : key_(base::Blake2s::Of(secret)) {}

bool ValueHash::IsText(std::string_view text) {
  return text.size() == kTextBytes && text.starts_with(kPrefix) &&
         text.find_first_not_of("0123456789abcdef", kPrefix.size()) == text.npos;
}

ValueHash::Text ValueHash::TextOf(std::string_view attribute, std::string_view value) const {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::string_view key(reinterpret_cast<const char*>(key_.data()), key_.size());
  const auto digest = base::Blake2s(key)
                          .Update(attribute)
                          .Update(std::string_view("\0", 1))  // No attribute's name has one.
                          .Update(value)
                          .Finish();
  Text text;
  auto to = std::ranges::copy(kPrefix, text.begin()).out;
  for (std::size_t i = 0; to != text.end(); ++i) {
    *to++ = kHex[digest[i] >> 4U];
    *to++ = kHex[digest[i] & 15U];
  }
  return text;
}

}  // namespace sluice::rules
