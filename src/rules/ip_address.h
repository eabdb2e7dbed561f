#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <netinet/in.h>

namespace sluice::rules {

// Text of fixed size, so that matching allocates nothing.
struct IpText {
  std::array<char, INET6_ADDRSTRLEN + 4> bytes{};
  std::uint8_t size = 0;

  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

struct IpPrefix;

// An address of either family. An IPv4 address mapped into IPv6 (::ffff:a.b.c.d) becomes the IPv4
// address, because both name the same host. The IPv6 address ::c000:201 is not 192.0.2.1.
struct IpAddress {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // IPv4 uses the first four.

  // Parses "192.0.2.1", "2001:db8::1", and both with the additions of proxies: "192.0.2.1:5123",
  // "[2001:db8::1]", "[2001:db8::1]:443". nullopt for anything else (zones, leading zeros, blanks,
  // names). Pure. Allocates nothing.
  static std::optional<IpAddress> Parse(std::string_view text);

  [[nodiscard]] int bits() const { return v6 ? 128 : 32; }
  // This address with all bits after the first `prefix` cleared. Requires 0 <= prefix <= bits().
  [[nodiscard]] IpAddress Masked(int prefix) const;
  // "192.0.2.1", "2001:db8::1".
  [[nodiscard]] IpText Text() const;

  // The IPv4 address embedded in this IPv6 address, if one of `prefixes` contains it (RFC 6052,
  // 2.2); otherwise this address. Requires IsTranslationPrefix() for all prefixes.
  [[nodiscard]] IpAddress Embedded(std::span<const IpPrefix> prefixes) const;

  auto operator<=>(const IpAddress&) const = default;
};

// A block of addresses: 10.0.0.0/8.
struct IpPrefix {
  IpAddress network;
  int length = 0;

  // Parses "10.0.0.0/8" or a single address; nullopt for anything else. Host bits may be set: see
  // HasHostBits. A mapped block (::ffff:0:0/96 and longer) becomes its IPv4 block.
  static std::optional<IpPrefix> Parse(std::string_view text);

  [[nodiscard]] bool HasHostBits() const { return network.Masked(length) != network; }
  [[nodiscard]] bool Contains(const IpAddress& address) const {
    return address.v6 == network.v6 && address.Masked(length) == network;
  }
  [[nodiscard]] bool Contains(const IpPrefix& other) const {
    return other.length >= length && Contains(other.network);
  }
  // "10.0.0.0/8", always with the length.
  [[nodiscard]] IpText Text() const;
  // Whether it can be a NAT64 prefix: IPv6, 32, 40, 48, 56, 64 or 96 bits, no host bits.
  [[nodiscard]] bool IsTranslationPrefix() const;

  // Orders each block before all blocks that it contains.
  auto operator<=>(const IpPrefix&) const = default;
};

// How the addresses of one attribute become keys: by default IPv4 by host and IPv6 by /64, because
// an IPv6 customer has at least a /64.
struct IpGrouping {
  int v4_prefix = 32;
  int v6_prefix = 64;

  // The key's text: "192.0.2.1", "192.0.2.0/24", "2001:db8:1:2::/64".
  [[nodiscard]] IpText KeyText(const IpAddress& address) const;

  bool operator==(const IpGrouping&) const = default;
};

}  // namespace sluice::rules
