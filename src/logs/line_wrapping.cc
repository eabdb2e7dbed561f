#include "logs/line_wrapping.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "logs/json_text_member.h"
#include "logs/line_reader.h"
#include "wire/ascii.h"

namespace sluice::logs {

namespace {

using wire::IsDigit;

// Docker cuts lines into pieces of this many bytes; only the last piece ends in a line feed.
constexpr std::size_t kDockerPieceBytes = std::size_t{16} << 10;

// Takes a line apart from the left. A Take...() that returns false may have taken some of it.
class Header {
 public:
  explicit Header(std::string_view line) : rest_(line) {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view text) {
    if (!rest_.starts_with(text)) {
      return false;
    }
    rest_.remove_prefix(text.size());
    return true;
  }
  // From `least` to `most` digits.
  bool TakeDigits(std::size_t least, std::size_t most) {
    std::size_t count = 0;
    while (count < most && count < rest_.size() && IsDigit(rest_[count])) {
      ++count;
    }
    rest_.remove_prefix(count);
    return count >= least;
  }
  // Up to the next blank, which is not taken.
  std::string_view TakeWord() {
    const std::string_view word = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(word.size());
    return word;
  }
  void TakeBlanks() {
    while (Take(' ')) {
    }
  }

  // "10:00:00", "10:00:00.123456".
  bool TakeClock() {
    if (!TakeDigits(2, 2) || !Take(':') || !TakeDigits(2, 2) || !Take(':') || !TakeDigits(2, 2)) {
      return false;
    }
    return !Take('.') || TakeDigits(1, 9);
  }
  // "2025-03-10".
  bool TakeDate() {
    return TakeDigits(4, 4) && Take('-') && TakeDigits(2, 2) && Take('-') && TakeDigits(2, 2);
  }
  // "2025-03-10T10:00:00.123Z", "2025-03-10T10:00:00+01:00".
  bool TakeIsoStamp() {
    if (!TakeDate() || !Take('T') || !TakeClock()) {
      return false;
    }
    if (Take('Z')) {
      return true;
    }
    return (Take('+') || Take('-')) && TakeDigits(2, 2) && (Take(':') || true) && TakeDigits(2, 2);
  }
  // "Mar 10 10:00:00", "Mar  5 10:00:00.123", "Mar 10 2025 10:00:00".
  bool TakeBsdStamp() {
    constexpr std::array<std::string_view, 12> kMonths{"Jan ", "Feb ", "Mar ", "Apr ",
                                                       "May ", "Jun ", "Jul ", "Aug ",
                                                       "Sep ", "Oct ", "Nov ", "Dec "};
    if (std::ranges::none_of(kMonths, [this](std::string_view month) { return Take(month); })) {
      return false;
    }
    Take(' ');
    if (!TakeDigits(1, 2) || !Take(' ')) {
      return false;
    }
    if (rest_.size() > 4 && rest_[4] == ' ') {
      if (!TakeDigits(4, 4) || !Take(' ')) {
        return false;
      }
    }
    return TakeClock();
  }
  // "Mon 2025-03-10 10:00:00 UTC", as journalctl -o short-full prints.
  bool TakeJournalStamp() {
    const std::string_view day = TakeWord();
    if (day.size() != 3 || !Take(' ') || !TakeDate() || !Take(' ') || !TakeClock() || !Take(' ')) {
      return false;
    }
    return !TakeWord().empty();
  }
  // Colours, which docker compose writes around names on request.
  void TakeColours() {
    while (rest_.starts_with("\x1B[")) {
      const std::size_t end = rest_.find('m');
      if (end > 16) {
        return;
      }
      rest_.remove_prefix(end + 1);
    }
  }

 private:
  std::string_view rest_;
};

// The name of a program, and its process id perhaps: "nginx", "haproxy[489]", "app[web.1]".
bool IsTag(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    const char lower = wire::ToLower(c);
    return IsDigit(c) || (lower >= 'a' && lower <= 'z') ||
           std::string_view("._-/[]()@+").find(c) != std::string_view::npos;
  });
}

// "[id name=\"value\"][...]" or "-". A quote, bracket or backslash in a value has a backslash.
bool TakeStructuredData(Header& header) {
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
      if (quoted && header.Take('\\')) {
        header.Take(header.rest().substr(0, 1));
      } else if (header.Take('"')) {
        quoted = !quoted;
      } else if (!quoted && header.Take(']')) {
        break;
      } else {
        header.Take(header.rest().substr(0, 1));
      }
    }
  }
  return any;
}

// Behind the priority and the version: stamp, host, program, process, message id, data.
std::optional<std::string_view> SkipRfc5424(Header header) {
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

// Behind the stamp: " host program[1]: ", " program: ", or where `bare_host` is allowed " host ".
std::optional<std::string_view> SkipHostAndTag(Header header, bool bare_host) {
  const auto is_tag = [](std::string_view word) {
    return word.ends_with(':') && IsTag(word.substr(0, word.size() - 1));
  };
  header.TakeBlanks();
  const std::string_view first = header.TakeWord();
  if (!is_tag(first)) {
    if (first.empty() || first.find_first_of("\"{") != first.npos || !header.Take(' ')) {
      return std::nullopt;
    }
    Header behind_host = header;
    if (is_tag(header.TakeWord())) {
      header.Take(' ');
      return header.rest();
    }
    return bare_host ? std::optional(behind_host.rest()) : std::nullopt;
  }
  header.Take(' ');
  return header.rest();
}

std::optional<std::string_view> SkipSyslog(std::string_view line) {
  Header header(line);
  if (Header framed(line);
      framed.TakeDigits(1, 5) && framed.Take(' ') && framed.rest().starts_with('<')) {
    header = framed;  // The number of its bytes comes first, as over TCP.
  }
  if (header.Take('<') && !(header.TakeDigits(1, 3) && header.Take('>'))) {
    return std::nullopt;
  }
  if (Header versioned = header; versioned.Take("1 ")) {
    if (const auto content = SkipRfc5424(versioned)) {
      return content;
    }
  }
  if (Header stamped = header; stamped.TakeBsdStamp() && stamped.rest().starts_with(' ')) {
    return SkipHostAndTag(stamped, /*bare_host=*/true);
  }
  if (Header stamped = header; stamped.TakeIsoStamp() && stamped.rest().starts_with(' ')) {
    return SkipHostAndTag(stamped, /*bare_host=*/false);
  }
  if (Header stamped = header; stamped.TakeJournalStamp() && stamped.rest().starts_with(' ')) {
    return SkipHostAndTag(stamped, /*bare_host=*/false);
  }
  return std::nullopt;
}

std::optional<std::string_view> SkipName(std::string_view line) {
  Header header(line);
  header.TakeColours();
  const std::string_view name = header.TakeWord();
  if (name.empty() || name.size() > 128 || name.find_first_of("\"{[") != name.npos ||
      !header.Take(' ')) {
    return std::nullopt;
  }
  header.TakeBlanks();
  header.TakeColours();
  if (!header.Take('|')) {
    return std::nullopt;
  }
  header.TakeColours();
  header.Take(' ');
  header.TakeColours();
  return header.rest();
}

std::optional<std::string_view> SkipPod(std::string_view line) {
  const std::size_t end = line.find(']');
  if (!line.starts_with("[pod/") || end == line.npos ||
      line.substr(0, end).find(' ') != line.npos) {
    return std::nullopt;
  }
  Header header(line.substr(end + 1));
  return header.Take(' ') || header.done() ? std::optional(header.rest()) : std::nullopt;
}

std::optional<std::string_view> SkipTimestamp(std::string_view line) {
  Header header(line);
  return header.TakeIsoStamp() && header.Take(' ') ? std::optional(header.rest()) : std::nullopt;
}

std::optional<std::string_view> Skip(Wrapping wrapping, std::string_view line) {
  switch (wrapping) {
    case Wrapping::kSyslog:
      return SkipSyslog(line);
    case Wrapping::kNames:
      return SkipName(line);
    case Wrapping::kPod:
      return SkipPod(line);
    case Wrapping::kTimestamp:
      return SkipTimestamp(line);
    case Wrapping::kCri:
    case Wrapping::kJsonText:
      break;
  }
  return std::nullopt;
}

}  // namespace

class Unwrapper::JsonText {
 public:
  JsonTextMember member{{"log", "MESSAGE", "message"}};
};

std::string_view TitleOf(Wrapping wrapping) {
  constexpr std::array<std::string_view, kWrappingCount> kTitles{
      "syslog", "Kubernetes CRI", "container names", "pod names", "timestamps", "JSON text"};
  return kTitles[static_cast<std::size_t>(wrapping)];
}

Unwrapper::Unwrapper(Wrapping wrapping)
    : wrapping_(wrapping),
      json_(wrapping == Wrapping::kJsonText ? std::make_unique<JsonText>() : nullptr) {}
Unwrapper::~Unwrapper() = default;
Unwrapper::Unwrapper(Unwrapper&&) noexcept = default;
Unwrapper& Unwrapper::operator=(Unwrapper&&) noexcept = default;

void Unwrapper::Append(std::string& line, std::string_view piece) {
  const std::size_t room =
      LineReader::kMaxLineBytes - std::min(line.size(), LineReader::kMaxLineBytes);
  line += piece.substr(0, room);
}

Unwrapper::Outcome Unwrapper::UnwrapCri(std::string_view line, std::string_view& content) {
  Header header(line);
  if (!header.TakeIsoStamp() || !header.Take(' ')) {
    return Outcome::kOther;
  }
  const bool errors = header.rest().starts_with("stderr");
  if (!header.Take("stdout") && !header.Take("stderr")) {
    return Outcome::kOther;
  }
  if (!header.Take(' ')) {
    return Outcome::kOther;
  }
  const std::string_view tags = header.TakeWord();
  const std::string_view tag = tags.substr(0, tags.find(':'));
  if ((tag != "F" && tag != "P") || (!header.Take(' ') && !header.done())) {
    return Outcome::kOther;
  }
  std::string& pieces = pieces_[errors ? 1 : 0];
  if (tag == "P") {
    Append(pieces, header.rest());
    return Outcome::kPiece;
  }
  content = header.rest();
  if (!pieces.empty()) {
    Append(pieces, content);
    std::swap(joined_, pieces);
    pieces.clear();
    content = joined_;
  }
  return Outcome::kLine;
}

Unwrapper::Outcome Unwrapper::UnwrapJsonText(std::string_view line, std::string_view& content) {
  const auto text = json_->member.Find(line);
  if (!text) {
    return Outcome::kOther;
  }
  const bool whole = text->ends_with('\n');
  content = text->substr(0, text->size() - (whole ? 1 : 0));
  content.remove_suffix(content.ends_with('\r') ? 1 : 0);
  std::string& pieces = pieces_.front();
  if (!whole && text->size() >= kDockerPieceBytes) {
    Append(pieces, content);
    return Outcome::kPiece;
  }
  if (!pieces.empty()) {
    Append(pieces, content);
    std::swap(joined_, pieces);
    pieces.clear();
    content = joined_;
  }
  return Outcome::kLine;
}

Unwrapper::Outcome Unwrapper::Unwrap(std::string_view line, std::string_view& content) {
  if (wrapping_ == Wrapping::kCri) {
    return UnwrapCri(line, content);
  }
  if (wrapping_ == Wrapping::kJsonText) {
    return UnwrapJsonText(line, content);
  }
  const auto rest = Skip(wrapping_, line);
  if (!rest) {
    return Outcome::kOther;
  }
  content = *rest;
  return Outcome::kLine;
}

}  // namespace sluice::logs
