#include "frontend/http/browser_guard.h"

#include <algorithm>
#include <array>
#include <optional>

#include "rules/attribute_value.h"
#include "rules/ip_address.h"
#include "wire/ascii.h"

namespace sluice::frontend::http {

namespace {

using rules::IpAddress;
using rules::IpPrefix;

bool IsLoopback(const IpAddress& address) {
  static const std::array kLoopback{*IpPrefix::Parse("127.0.0.0/8"), *IpPrefix::Parse("::1/128")};
  return std::ranges::any_of(kLoopback,
                             [&](const IpPrefix& block) { return block.Contains(address); });
}

// 0.0.0.0 and ::.
bool IsAll(const IpAddress& address) {
  return std::ranges::all_of(address.bytes, [](std::uint8_t byte) { return byte == 0; });
}

// "https://host:port" without its scheme; none for "null" and what is no origin of a page.
std::optional<std::string_view> HostOfOrigin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) {
      return origin.substr(scheme.size());
    }
  }
  return std::nullopt;
}

}  // namespace

bool NamesListener(std::string_view host, const HostNames& listener) {
  if (listener.address.empty()) {
    return true;
  }
  const auto bound = IpAddress::Parse(listener.address);
  if (const auto address = IpAddress::Parse(host)) {
    return bound &&
           (*address == *bound || IsAll(*bound) || (IsLoopback(*address) && IsLoopback(*bound)));
  }
  std::string room;
  const std::string_view name = rules::CanonicalHost(host, room);
  if (name == "localhost") {
    return bound && (IsLoopback(*bound) || IsAll(*bound));
  }
  std::string other;
  return std::ranges::any_of(listener.names, [&](const std::string& one) {
    return rules::CanonicalHost(one, other) == name;
  });
}

bool IsFromForeignPage(const wire::HttpRequest& request) {
  if (!request.fields.Has(wire::RareField::kOrigin) &&
      !request.fields.Has(wire::RareField::kSecFetchSite)) [[likely]] {
    return false;
  }
  const std::string_view host = request.Field("Host");
  for (const wire::HttpField& field : request.fields) {
    if (wire::EqualsIgnoreCase(field.name, "Origin")) {
      const auto origin = HostOfOrigin(field.value);
      if (!origin || !wire::EqualsIgnoreCase(*origin, host)) {
        return true;
      }
    } else if (wire::EqualsIgnoreCase(field.name, "Sec-Fetch-Site") &&
               field.value != "same-origin" && field.value != "none") {
      return true;
    }
  }
  return false;
}

bool HasJsonType(const wire::HttpRequest& request) {
  std::string_view type = request.Field("Content-Type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) {
    type.remove_suffix(1);
  }
  return wire::EqualsIgnoreCase(type, "application/json") && !request.HasSeveral("Content-Type");
}

}  // namespace sluice::frontend::http
