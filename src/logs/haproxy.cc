#include <algorithm>
#include <array>

#include "logs/line_parser.h"
#include "logs/log_record.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

// "192.0.2.1:42617", "2001:db8::1:42617", "unix:1": the port is always there.
bool IsClient(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  return colon != text.npos && colon != 0 && colon + 1 < text.size() &&
         std::ranges::all_of(text.substr(colon + 1), wire::IsDigit) &&
         text.find_first_of("\"'{}[]<>|,;=") == text.npos;
}

}  // namespace

LineKind HaproxyParser::Parse(std::string_view line, LogRecord& record) {
  record.Clear(record.columns.size());
  if (line.empty()) {
    return LineKind::kOther;
  }
  // The first bracket with a timestamp. Syslog's bracket has a process id.
  std::size_t open = 0;
  std::size_t close = 0;
  for (;;) {
    open = line.find(" [", open);
    close = open == line.npos ? open : line.find(']', open);
    if (close == line.npos) {
      return Bad("no [time]");
    }
    if (const auto at = stamps_.Clf(line.substr(open + 2, close - open - 2))) {
      record.at = *at;
      break;
    }
    ++open;
  }
  const std::string_view head = line.substr(0, open);
  std::string_view client = head.substr(head.rfind(' ') + 1);  // npos + 1 is 0.
  if (!IsClient(client)) {
    return Bad("no client:port before the time");
  }
  client = WithoutLastPort(client);
  SetClient(record, client);

  // frontend backend/server timers status bytes cookie cookie termination ...
  std::string_view rest = line.substr(close + 1);
  std::array<std::string_view, 8> words{};
  for (std::string_view& word : words) {
    const std::size_t begin = rest.find_first_not_of(' ');
    if (begin == rest.npos) {
      return Bad("it is too short for HAProxy's HTTP log; a TCP log has no requests");
    }
    rest.remove_prefix(begin);
    word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
  }
  if (words[2].find('/') == words[2].npos) {
    return Bad("no timers after the server: this is not HAProxy's HTTP log");
  }
  record.Set(Field::kFrontend, words[0].substr(0, words[0].find('~')));  // '~' is TLS.
  record.Set(Field::kBackend, words[1].substr(0, words[1].find('/')));
  if (const std::size_t slash = words[1].find('/'); slash != line.npos) {
    record.Set(Field::kServer, words[1].substr(slash + 1));
  }
  std::string_view total = words[2].substr(words[2].rfind('/') + 1);
  if (total.starts_with('+')) {
    total.remove_prefix(1);
  }
  record.Set(Field::kDurationMs, total);
  if (words[3] != "-1") {
    record.Set(Field::kStatus, words[3]);
  }
  record.Set(Field::kBytes, words[4]);
  record.Set(Field::kTermination, words[7]);
  const std::size_t quote = rest.find('"');
  if (quote == rest.npos) {
    return Bad("no \"request\": a TCP log has no requests");
  }
  std::string_view request = rest.substr(quote + 1);
  request = request.substr(
      0, request.rfind('"'));  // If syslog truncated the line, the quote is not closed.
  SetRequestLine(record, request);
  return LineKind::kRequest;
}

}  // namespace sluice::logs
