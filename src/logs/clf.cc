#include "logs/clf.h"

#include "logs/request_line.h"

namespace sluice::logs {

namespace {

// Up to the next space, which goes too.
std::string_view TakeWord(std::string_view& rest) {
  const std::size_t end = rest.find(' ');
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
  return word;
}

// A "quoted text" and the space behind it. False if none begins here or it does not end.
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
    return Bad("no ] behind the time");
  }
  const auto at = stamps_.Any(rest.substr(0, close));
  if (!at) {
    return Bad("the time cannot be read");
  }
  record.at = *at;

  if (vhost_) {
    const std::string_view host = TakeWord(who);
    record.Set(Field::kHost, WithoutPort(host));
    if (const std::size_t colon = host.rfind(':'); colon != host.npos) {
      record.Set(Field::kPort, host.substr(colon + 1));
    }
  }
  const std::string_view client = TakeWord(who);
  if (client.empty()) {
    return Bad("no client");
  }
  SetClient(record, client);
  TakeWord(who);  // identd's guess, which nobody runs any more.
  SetUnlessDash(record, Field::kUser, who);

  rest.remove_prefix(close + 1);
  if (!rest.empty() && rest.front() == ' ') {
    rest.remove_prefix(1);
  }
  std::string_view request;
  if (!TakeQuoted(rest, request)) {
    return Bad("no \"request\" behind the time");
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
