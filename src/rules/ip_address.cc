#include "rules/ip_address.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include <arpa/inet.h>

namespace sluice::rules {

namespace {

constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedBits = 96;

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// The same IPv4 syntax as inet_pton: four decimals of 0 to 255 without leading zeros. Hand-written,
// like the formatting, because most requests have such an address and the C library is slow.
std::optional<IpAddress> ParseV4(std::string_view text) {
  IpAddress address;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t octet = 0; octet < 4; ++octet) {
    if (octet != 0) {
      if (at == end || *at != '.') {
        return std::nullopt;
      }
      ++at;
    }
    const char* const digits = at;
    unsigned value = 0;
    while (at != end && *at >= '0' && *at <= '9' && at - digits < 3) {
      value = (value * 10) + static_cast<unsigned>(*at++ - '0');
    }
    if (at == digits || value > 255 || (*digits == '0' && at - digits > 1)) {
      return std::nullopt;
    }
    address.bytes[octet] = static_cast<std::uint8_t>(value);
  }
  return at == end ? std::optional(address) : std::nullopt;
}

IpText TextOfV4(const IpAddress& address) {
  IpText text;
  char* at = text.bytes.data();
  for (std::size_t octet = 0; octet < 4; ++octet) {
    if (octet != 0) {
      *at++ = '.';
    }
    const unsigned value = address.bytes[octet];
    if (value >= 100) {
      *at++ = static_cast<char>('0' + (value / 100));
    }
    if (value >= 10) {
      *at++ = static_cast<char>('0' + (value / 10 % 10));
    }
    *at++ = static_cast<char>('0' + (value % 10));
  }
  text.size = static_cast<std::uint8_t>(at - text.bytes.data());
  return text;
}

// inet_pton for a view. With `unmap` false, a mapped address stays IPv6.
std::optional<IpAddress> ParseBare(std::string_view text, bool v6, bool unmap) {
  if (!v6) {
    return ParseV4(text);
  }
  std::array<char, INET6_ADDRSTRLEN + 1> terminated{};
  if (text.empty() || text.size() >= terminated.size() || text.find('\0') != text.npos) {
    return std::nullopt;
  }
  std::memcpy(terminated.data(), text.data(), text.size());
  IpAddress address;
  address.v6 = true;
  if (inet_pton(AF_INET6, terminated.data(), address.bytes.data()) != 1) {
    return std::nullopt;
  }
  if (unmap && std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin())) {
    IpAddress v4;
    std::copy_n(address.bytes.begin() + kMapped.size(), 4, v4.bytes.begin());
    return v4;
  }
  return address;
}

void Append(IpText& text, std::string_view more) {
  std::memcpy(text.bytes.data() + text.size, more.data(), more.size());
  text.size = static_cast<std::uint8_t>(text.size + more.size());
}

}  // namespace

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (const auto address = ParseV4(text)) {  // Nearly all texts.
    return address;
  }
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) {
      return std::nullopt;
    }
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && !(rest.front() == ':' && IsPort(rest.substr(1)))) {
      return std::nullopt;
    }
    return ParseBare(text.substr(1, end - 1), true, true);
  }
  const std::size_t colon = text.find(':');
  if (colon == text.npos) {
    return std::nullopt;
  }
  if (text.find(':', colon + 1) != text.npos) {
    return ParseBare(text, true, true);
  }
  return IsPort(text.substr(colon + 1)) ? ParseV4(text.substr(0, colon)) : std::nullopt;
}

IpAddress IpAddress::Masked(int prefix) const {
  IpAddress masked = *this;
  for (std::size_t i = 0; i < masked.bytes.size(); ++i) {
    const int kept = std::clamp(prefix - (static_cast<int>(i) * 8), 0, 8);
    masked.bytes[i] = static_cast<std::uint8_t>(masked.bytes[i] & (0xff00 >> kept));
  }
  return masked;
}

// Byte 8 is zero in every such address; the IPv4 address continues after it.
IpAddress IpAddress::Embedded(std::span<const IpPrefix> prefixes) const {
  constexpr std::size_t kReservedByte = 8;
  for (const IpPrefix& prefix : prefixes) {
    if (!v6 || !prefix.Contains(*this)) {
      continue;
    }
    IpAddress v4;
    std::size_t from = static_cast<std::size_t>(prefix.length) / 8;
    for (std::size_t octet = 0; octet < 4; ++octet, ++from) {
      from += from == kReservedByte ? 1 : 0;
      v4.bytes[octet] = bytes[from];
    }
    return v4;
  }
  return *this;
}

IpText IpAddress::Text() const {
  if (!v6) {
    return TextOfV4(*this);
  }
  IpText text;
  inet_ntop(AF_INET6, bytes.data(), text.bytes.data(), static_cast<socklen_t>(text.bytes.size()));
  text.size = static_cast<std::uint8_t>(std::strlen(text.bytes.data()));
  return text;
}

std::optional<IpPrefix> IpPrefix::Parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view address_text = text.substr(0, slash);
  const bool v6 = address_text.find(':') != text.npos;
  const auto address = ParseBare(address_text, v6, false);
  if (!address.has_value()) {
    return std::nullopt;
  }
  IpPrefix prefix{*address, address->bits()};
  if (slash != text.npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), prefix.length);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.size() > 3 ||
        prefix.length < 0 || prefix.length > address->bits()) {
      return std::nullopt;
    }
  }
  if (v6 && prefix.length >= kMappedBits) {
    if (const auto v4 = ParseBare(address_text, true, true); v4 && !v4->v6) {
      return IpPrefix{*v4, prefix.length - kMappedBits};
    }
  }
  return prefix;
}

bool IpPrefix::IsTranslationPrefix() const {
  constexpr std::array<int, 6> kLengths{32, 40, 48, 56, 64, 96};
  return network.v6 && !HasHostBits() && std::ranges::find(kLengths, length) != kLengths.end();
}

IpText IpPrefix::Text() const {
  IpText text = network.Text();
  std::array<char, 4> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), length).ptr;
  Append(text, "/");
  Append(text, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  return text;
}

IpText IpGrouping::KeyText(const IpAddress& address) const {
  const int length = address.v6 ? v6_prefix : v4_prefix;
  if (!address.v6 && length == 32) {
    return TextOfV4(address);
  }
  return IpPrefix{address.Masked(length), length}.Text();
}

}  // namespace sluice::rules
