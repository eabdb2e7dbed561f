#include "rules/host_name.h"

#include <algorithm>

#include "rules/ip_address.h"

namespace sluice::rules {

namespace {

bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

// "name:443" and "[...]:443" without the port. What has several colons and is no address ends at
// the first.
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

}  // namespace sluice::rules
