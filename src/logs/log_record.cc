#include "logs/log_record.h"

#include <algorithm>
#include <array>

#include "wire/ascii.h"

namespace sluice::logs {

namespace {

constexpr std::array<std::string_view, kFieldCount> kNames{
    "ip",       "client",  "method", "path",        "endpoint",   "protocol", "host",
    "port",     "status",  "bytes",  "referer",     "user_agent", "user",     "forwarded_for",
    "frontend", "backend", "server", "termination", "duration_ms"};

}  // namespace

std::optional<Field> FieldNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return static_cast<Field>(i);
    }
  }
  return std::nullopt;
}

namespace {

// The form of methods: upper case, with an occasional dash or underscore.
bool IsMethod(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::ranges::all_of(text, [](char c) {
    return (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

// The characters of IPv4 addresses, or of IPv6 addresses: at least two colons, and hex digits.
bool LooksLikeAddress(std::string_view text) {
  if (text.empty() || text.size() > 45) {
    return false;
  }
  int dots = 0;
  int colons = 0;
  bool digits_only = true;
  for (const char c : text) {
    if (c == '.') {
      ++dots;
    } else if (c == ':') {
      ++colons;
    } else if (!wire::IsDigit(c)) {
      digits_only = false;
      if (wire::HexValue(c) < 0) {
        return false;
      }
    }
  }
  return colons >= 2 || (colons == 0 && dots == 3 && digits_only);
}

}  // namespace

void SetRequestLine(LogRecord& record, std::string_view line) {
  const std::size_t space = line.find(' ');
  if (space == line.npos || !IsMethod(line.substr(0, space))) {
    return;
  }
  std::string_view target = line.substr(space + 1);
  const std::size_t last = target.rfind(' ');
  if (last != target.npos && target.substr(last + 1).starts_with("HTTP/")) {
    record.Set(Field::kProtocol, target.substr(last + 1));
    target = target.substr(0, last);
  }
  record.Set(Field::kMethod, line.substr(0, space));
  if (!target.empty()) {
    SetTarget(record, target);
  }
}

void SetTarget(LogRecord& record, std::string_view target) {
  if (target.front() != '/') {
    const std::size_t scheme = target.find("://");
    if (scheme <= 8) {
      const std::string_view rest = target.substr(scheme + 3);
      const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
      if (record.Get(Field::kHost).data() == nullptr && slash != 0) {
        record.Set(Field::kHost, WithoutPort(rest.substr(0, slash)));
      }
      target = slash == rest.size() ? std::string_view("/") : rest.substr(slash);
    }
  }
  record.Set(Field::kPath, target);
  record.Set(Field::kEndpoint, target.substr(0, target.find('?')));
}

void SetClient(LogRecord& record, std::string_view client) {
  std::string_view address = client;
  if (client.size() > 2 && client.front() == '[') {
    address = client.substr(1, client.find(']') - 1);
  } else if (const std::size_t colon = client.find(':');
             colon != client.npos && client.find(':', colon + 1) == client.npos) {
    address = client.substr(0, colon);
  }
  record.Set(Field::kClient, address);
  if (LooksLikeAddress(address)) {
    record.Set(Field::kIp, address);
  }
}

std::string_view WithoutPort(std::string_view host) {
  const std::size_t colon = host.find(':');
  const bool one = colon != host.npos && host.find(':', colon + 1) == host.npos;
  return one ? host.substr(0, colon) : host;
}

std::string_view WithoutLastPort(std::string_view address) {
  return address.starts_with('[') ? address : address.substr(0, address.rfind(':'));
}

std::string_view FirstOfList(std::string_view list) {
  return list.substr(0, list.find_first_of(", "));
}

}  // namespace sluice::logs
