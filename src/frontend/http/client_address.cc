#include "frontend/http/client_address.h"

#include <algorithm>

#include "wire/ascii.h"

namespace sluice::frontend::http {

namespace {

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The value of `for` in one element of Forwarded, without its quotes; "" if there is none.
std::string_view ForOf(std::string_view element) {
  while (!element.empty()) {
    const std::size_t end = std::min(element.find(';'), element.size());
    const std::string_view pair = Trim(element.substr(0, end));
    element.remove_prefix(std::min(end + 1, element.size()));
    if (pair.size() > 4 && wire::EqualsIgnoreCase(pair.substr(0, 4), "for=")) {
      std::string_view value = pair.substr(4);
      if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      return value;
    }
  }
  return {};
}

bool IsTrusted(const rules::IpAddress& address, const ForwardingSettings& settings) {
  return std::ranges::any_of(
      settings.trusted, [&](const rules::IpPrefix& prefix) { return prefix.Contains(address); });
}

// One line of the field, from right to left. True: `client` is found, go no further.
bool Walk(std::string_view line, const ForwardingSettings& settings, bool is_forwarded,
          std::optional<rules::IpAddress>& client) {
  for (bool more = true; more;) {
    const std::size_t comma = line.rfind(',');
    more = comma != std::string_view::npos;
    const std::string_view element = Trim(more ? line.substr(comma + 1) : line);
    line = more ? line.substr(0, comma) : std::string_view();
    const auto hop = rules::IpAddress::Parse(is_forwarded ? ForOf(element) : element);
    if (!hop) {
      return true;
    }
    client = hop;
    if (!IsTrusted(*hop, settings)) {
      return true;
    }
  }
  return false;
}

}  // namespace

ClientAddress FindClientAddress(const wire::HttpRequest& request, std::string_view peer,
                                const ForwardingSettings& settings) {
  ClientAddress found{.address = rules::IpAddress::Parse(peer)};
  if (!found.address || !IsTrusted(*found.address, settings)) {
    found.untrusted = request.HasField(settings.header);
    return found;
  }
  found.peer_is_trusted = true;
  const bool is_forwarded = wire::EqualsIgnoreCase(settings.header, "Forwarded");
  for (auto field = request.fields.rbegin(); field != request.fields.rend(); ++field) {
    if (wire::EqualsIgnoreCase(field->name, settings.header) &&
        Walk(field->value, settings, is_forwarded, found.address)) {
      break;
    }
  }
  return found;
}

}  // namespace sluice::frontend::http
