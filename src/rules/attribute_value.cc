#include "rules/attribute_value.h"

#include <algorithm>

#include "base/blake2s.h"
#include "rules/ip_address.h"

namespace sluice::rules {

namespace {

bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

// "name:443" and "[...]:443" without the port. A text with several colons that is not an address
// ends at the first one.
std::string_view WithoutPort(std::string_view host) {
  return host.starts_with('[') ? host.substr(0, host.find(']') + 1)
                               : host.substr(0, host.find(':'));
}

}  // namespace

std::string_view CanonicalHost(std::string_view host, std::string& room) {
  if (host.find_first_of("[:") != std::string_view::npos) {
    if (const auto address = IpAddress::Parse(host)) {
      const IpText text = address->Text();
      room.clear();
      room.append(address->v6 ? "[" : "").append(text.view()).append(address->v6 ? "]" : "");
      return room;
    }
    host = WithoutPort(host);
  }
  while (host.ends_with('.')) {
    host.remove_suffix(1);
  }
  if (std::ranges::none_of(host, IsUpper)) {
    return host;
  }
  room.resize(host.size());
  std::ranges::transform(host, room.begin(), [](char c) {
    return IsUpper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return room;
}

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
                          .Update(std::string_view("\0", 1))  // Attribute names have none.
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
