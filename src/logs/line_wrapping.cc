#include "logs/line_wrapping.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "logs/line_header.h"
#include "logs/line_reader.h"

namespace sluice::logs {

namespace {

// Docker splits lines into pieces of this many bytes; only the last piece ends in a line feed.
constexpr std::size_t kDockerPieceBytes = std::size_t{16} << 10;

std::optional<std::string_view> SkipName(std::string_view line) {
  LineHeader header(line);
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
  LineHeader header(line.substr(end + 1));
  return header.Take(' ') || header.done() ? std::optional(header.rest()) : std::nullopt;
}

std::optional<std::string_view> SkipTimestamp(std::string_view line) {
  LineHeader header(line);
  return header.TakeIsoStamp() && header.Take(' ') ? std::optional(header.rest()) : std::nullopt;
}

std::optional<std::string_view> Skip(Wrapping wrapping, std::string_view line) {
  switch (wrapping) {
    case Wrapping::kSyslog:
      return SkipSyslogHeader(line);
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
  LineHeader header(line);
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

WrappedParser::WrappedParser(const std::vector<Wrapping>& wrappings,
                             std::unique_ptr<LineParser> inner)
    : inner_(std::move(inner)) {
  for (const Wrapping wrapping : wrappings) {
    unwrappers_.emplace_back(wrapping);
  }
}

LineKind WrappedParser::Parse(std::string_view line, LogRecord& record) {
  if (line.empty()) {
    return LineKind::kOther;
  }
  for (Unwrapper& unwrapper : unwrappers_) {
    std::string_view content;
    switch (unwrapper.Unwrap(line, content)) {
      case Unwrapper::Outcome::kLine:
        line = content;
        break;
      case Unwrapper::Outcome::kPiece:
        return LineKind::kOther;
      case Unwrapper::Outcome::kOther:
        return Bad("it does not begin like the lines before it");
    }
  }
  const LineKind kind = inner_->Parse(line, record);
  return kind == LineKind::kBad ? Bad(inner_->problem()) : kind;
}

}  // namespace sluice::logs
