#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "logs/line_parser.h"

namespace sluice::logs {

// Prefixes and containers that log collectors put around each line of a log.
enum class Wrapping : std::uint8_t {
  kSyslog,     // Mar 10 10:00:00 web1 nginx[12]: LINE, and RFC 5424's <190>1 2025-... - LINE
  kCri,        // 2025-03-10T10:00:00.000000000Z stdout F LINE: Kubernetes' log files
  kNames,      // web-1  | LINE: docker compose, docker service, pm2
  kPod,        // [pod/web-0/nginx] LINE: kubectl logs --prefix
  kTimestamp,  // 2025-03-10T10:00:00.000000000Z LINE: docker and kubectl logs --timestamps
  kJsonText,   // {"log": "LINE\n", ...}: Docker's json-file, Fluent Bit, journalctl -o json
};
inline constexpr int kWrappingCount = 6;

// For reports: "syslog", "Kubernetes CRI", ...
[[nodiscard]] std::string_view TitleOf(Wrapping wrapping);

// Removes the wrapping from the lines of one log, and joins lines that the container runtime split.
// Allocates nothing per line once warm. One thread.
class Unwrapper {
 public:
  explicit Unwrapper(Wrapping wrapping);
  ~Unwrapper();
  Unwrapper(Unwrapper&&) noexcept;
  Unwrapper& operator=(Unwrapper&&) noexcept;

  enum class Outcome : std::uint8_t {
    kLine,   // `content` is the line.
    kPiece,  // A piece of a line; its end follows.
    kOther,  // Not wrapped in this way.
  };
  // `content` is valid until the next call, and only as long as `line` is.
  [[nodiscard]] Outcome Unwrap(std::string_view line, std::string_view& content);

  [[nodiscard]] Wrapping wrapping() const { return wrapping_; }

 private:
  class JsonText;

  Outcome UnwrapCri(std::string_view line, std::string_view& content);
  Outcome UnwrapJsonText(std::string_view line, std::string_view& content);
  // Appends a piece, up to the maximum length of a line.
  static void Append(std::string& line, std::string_view piece);

  Wrapping wrapping_;
  std::unique_ptr<JsonText> json_;
  std::array<std::string, 2>
      pieces_;          // Of an unfinished line: on standard output, on standard error.
  std::string joined_;  // The line returned last, if it had pieces.
};

// Parses the lines of a log with one or several wrappings, with a parser for their content. A line
// without the same wrappings is bad.
class WrappedParser final : public LineParser {
 public:
  // `wrappings`: the outermost first.
  WrappedParser(const std::vector<Wrapping>& wrappings, std::unique_ptr<LineParser> inner);

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  std::vector<Unwrapper> unwrappers_;
  std::unique_ptr<LineParser> inner_;
};

// Finds a text in JSON objects, such as a log line inside a log shipper's object. One thread.
class JsonTextMember {
 public:
  // `names`: possible names of the member, in order of preference.
  explicit JsonTextMember(std::vector<std::string> names);
  ~JsonTextMember();

  // The decoded text of the object's top-level member with the first of the names that it has,
  // valid until the next call. nullopt if `line` is not a JSON object, or none of them is a text.
  [[nodiscard]] std::optional<std::string_view> Find(std::string_view line);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The rest of a line after its syslog header: RFC 3164 as programs write it, RFC 5424, or
// journalctl's format, with or without the priority. nullopt: the line has no such header.
[[nodiscard]] std::optional<std::string_view> SkipSyslogHeader(std::string_view line);

}  // namespace sluice::logs
