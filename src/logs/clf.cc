#include <algorithm>

#include "logs/line_parser.h"
#include "logs/log_record.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

// Takes the text up to the next space, and the space.
std::string_view TakeWord(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return word;
}

// Takes a "quoted text" and the space after it. False if there is none, or it is not closed.
bool TakeQuoted(std::string_view& rest, std::string_view& text) {
  if (rest.empty() || rest.front() != '"') {
    return false;
  }
  std::size_t end = 1;
  for (;;) {
    end = rest.find('"', end);
    if (end == rest.npos) {
      return false;
    }
    std::size_t slashes = 0;
    while (rest[end - 1 - slashes] == '\\') {
      ++slashes;
    }
    if (slashes % 2 == 0) {
      break;
    }
    ++end;
  }
  text = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  if (!rest.empty() && rest.front() == ' ') {
    rest.remove_prefix(1);
  }
  return true;
}

// "client ident user", before the time. Servers no longer use identd, so the second word is a dash.
// That distinguishes a client from a log shipper's prefix.
bool IsWho(std::string_view who) {
  const std::size_t first = who.find(' ');
  if (first == who.npos) {
    LogRecord alone;
    SetClient(alone, who);
    return alone.Get(Field::kIp).data() != nullptr;
  }
  const std::string_view rest = who.substr(first + 1);
  const std::string_view ident = rest.substr(0, rest.find(' '));
  const std::string_view user = rest.substr(std::min(ident.size() + 1, rest.size()));
  if (ident == "-") {
    return user.find(" - ") == user.npos && !user.ends_with(" -");
  }
  LogRecord client;
  SetClient(client, who.substr(0, first));
  // A server that uses identd: the client must be an address, and the user a word.
  return client.Get(Field::kIp).data() != nullptr && !user.empty() && user.find(' ') == user.npos;
}

// "example.com:443", "example.com", "[2001:db8::1]:80".
bool IsHost(std::string_view host) {
  const std::size_t end = host.starts_with('[') ? host.find(']') : host.find(':');
  std::string_view port = end == host.npos ? std::string_view() : host.substr(end);
  if (host.starts_with('[') && !port.empty()) {
    port.remove_prefix(1);
  }
  const std::string_view name = host.substr(0, host.size() - port.size());
  const auto is_name = [](char c) {
    const char lower = wire::ToLower(c);
    return wire::IsDigit(c) || (lower >= 'a' && lower <= 'z') || c == '.' || c == '-' || c == '_';
  };
  const bool bracketed =
      name.size() > 2 && name.front() == '[' && name.back() == ']' &&
      name.substr(1, name.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") == name.npos;
  return !name.empty() && (bracketed || std::ranges::all_of(name, is_name)) &&
         (port.empty() || (port.size() > 1 && port.size() < 7 && port.front() == ':' &&
                           std::ranges::all_of(port.substr(1), wire::IsDigit)));
}

void SetUnlessDash(LogRecord& record, Field field, std::string_view value) {
  if (value != "-" && !value.empty()) {
    record.Set(field, value);
  }
}

}  // namespace

LineKind ClfParser::Parse(std::string_view line, LogRecord& record) {
  record.Clear(record.columns.size());
  const std::size_t open = line.find(" [");
  if (open == line.npos) {
    return line.empty() ? LineKind::kOther : Bad("no [time]");
  }
  std::string_view who = line.substr(0, open);
  std::string_view rest = line.substr(open + 2);
  const std::size_t close = rest.size() > 26 && rest[26] == ']' ? 26 : rest.find(']');
  if (close == rest.npos) {
    return Bad("no ] after the time");
  }
  const auto at = stamps_.Any(rest.substr(0, close));
  if (!at) {
    return Bad("the time cannot be read");
  }
  record.at = *at;

  if (vhost_) {
    const std::string_view host = TakeWord(who);
    if (!IsHost(host)) {
      return Bad("no virtual host before the client");
    }
    record.Set(Field::kHost, WithoutPort(host));
    if (const std::size_t colon = host.rfind(':'); colon != host.npos) {
      record.Set(Field::kPort, host.substr(colon + 1));
    }
  }
  if (who.empty()) {
    return Bad("no client");
  }
  if (!IsWho(who)) {
    return Bad("the fields before the time are not `client - user`");
  }
  const std::string_view client = TakeWord(who);
  SetClient(record, client);
  TakeWord(who);  // identd's answer, which servers no longer request.
  SetUnlessDash(record, Field::kUser, who);

  rest.remove_prefix(close + 1);
  if (!rest.empty() && rest.front() == ' ') {
    rest.remove_prefix(1);
  }
  std::string_view request;
  if (!TakeQuoted(rest, request)) {
    return Bad("no \"request\" after the time");
  }
  SetRequestLine(record, request);
  SetUnlessDash(record, Field::kStatus, TakeWord(rest));
  const std::string_view bytes = TakeWord(rest);
  record.Set(Field::kBytes, bytes == "-" ? std::string_view("0") : bytes);
  std::string_view text;
  for (const Field field : {Field::kReferer, Field::kUserAgent, Field::kForwardedFor}) {
    if (!TakeQuoted(rest, text)) {
      break;
    }
    SetUnlessDash(record, field, field == Field::kForwardedFor ? FirstOfList(text) : text);
  }
  return LineKind::kRequest;
}

}  // namespace sluice::logs
