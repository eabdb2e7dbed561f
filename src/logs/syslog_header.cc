#include <algorithm>

#include "logs/line_header.h"
#include "logs/line_wrapping.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

// The name of a program, optionally with its process id: "nginx", "haproxy[489]", "app[web.1]".
bool IsTag(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    const char lower = wire::ToLower(c);
    return wire::IsDigit(c) || (lower >= 'a' && lower <= 'z') ||
           std::string_view("._-/[]()@+").find(c) != std::string_view::npos;
  });
}

// "[id name=\"value\"][...]" or "-". A quote, bracket or backslash in a value is escaped with a
// backslash.
bool TakeStructuredData(LineHeader& header) {
  if (header.Take('-')) {
    return true;
  }
  bool any = false;
  while (header.Take('[')) {
    any = true;
    bool quoted = false;
    for (;;) {
      if (header.done()) {
        return false;
      }
      if (!quoted && header.Take(']')) {
        break;
      }
      if (header.Take('"')) {
        quoted = !quoted;
        continue;
      }
      if (quoted) {
        header.Take('\\');  // The character after it is literal.
      }
      header.Take(header.rest().substr(0, 1));
    }
  }
  return any;
}

// After the priority and the version: timestamp, host, program, process, message id, data.
std::optional<std::string_view> SkipRfc5424(LineHeader header) {
  if (!header.Take('-') && !header.TakeIsoStamp()) {
    return std::nullopt;
  }
  for (int i = 0; i < 4; ++i) {
    if (!header.Take(' ') || header.TakeWord().empty()) {
      return std::nullopt;
    }
  }
  if (!header.Take(' ') || !TakeStructuredData(header)) {
    return std::nullopt;
  }
  if (!header.Take(' ') && !header.done()) {
    return std::nullopt;
  }
  header.Take("\xEF\xBB\xBF");  // Marks a message as UTF-8.
  return header.rest();
}

// After the timestamp: " host program[1]: ", " program: ", or " host " if `bare_host` is allowed.
std::optional<std::string_view> SkipHostAndTag(LineHeader header, bool bare_host) {
  const auto is_tag = [](std::string_view word) {
    return word.ends_with(':') && IsTag(word.substr(0, word.size() - 1));
  };
  header.TakeBlanks();
  const std::string_view first = header.TakeWord();
  if (!is_tag(first)) {
    if (first.empty() || first.find_first_of("\"{") != first.npos || !header.Take(' ')) {
      return std::nullopt;
    }
    LineHeader behind_host = header;
    if (is_tag(header.TakeWord())) {
      header.Take(' ');
      return header.rest();
    }
    return bare_host ? std::optional(behind_host.rest()) : std::nullopt;
  }
  header.Take(' ');
  return header.rest();
}

}  // namespace

std::optional<std::string_view> SkipSyslogHeader(std::string_view line) {
  LineHeader header(line);
  if (LineHeader framed(line);
      framed.TakeDigits(1, 5) && framed.Take(' ') && framed.rest().starts_with('<')) {
    header = framed;  // The number of bytes precedes it, as over TCP.
  }
  if (header.Take('<') && !(header.TakeDigits(1, 3) && header.Take('>'))) {
    return std::nullopt;
  }
  if (LineHeader versioned = header; versioned.Take("1 ")) {
    if (const auto content = SkipRfc5424(versioned)) {
      return content;
    }
  }
  if (LineHeader stamped = header; stamped.TakeBsdStamp() && stamped.rest().starts_with(' ')) {
    return SkipHostAndTag(stamped, /*bare_host=*/true);
  }
  if (LineHeader stamped = header; stamped.TakeIsoStamp() && stamped.rest().starts_with(' ')) {
    return SkipHostAndTag(stamped, /*bare_host=*/false);
  }
  if (LineHeader stamped = header; stamped.TakeJournalStamp() && stamped.rest().starts_with(' ')) {
    return SkipHostAndTag(stamped, /*bare_host=*/false);
  }
  return std::nullopt;
}

}  // namespace sluice::logs
