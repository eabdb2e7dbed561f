#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::logs {

// Programs that put something before each line of a log, or put the line into something, on its
// way to a file.
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

// Takes the lines of one log out of what they are wrapped in. Joins the pieces of a line that the
// container runtime cut. Allocates nothing per line once warm. One thread.
class Unwrapper {
 public:
  explicit Unwrapper(Wrapping wrapping);
  ~Unwrapper();
  Unwrapper(Unwrapper&&) noexcept;
  Unwrapper& operator=(Unwrapper&&) noexcept;

  enum class Outcome : std::uint8_t {
    kLine,   // `content` is the line.
    kPiece,  // A piece of a line whose end is still to come.
    kOther,  // Not wrapped in this way.
  };
  // `content` is valid until the next call and as long as `line` is.
  [[nodiscard]] Outcome Unwrap(std::string_view line, std::string_view& content);

  [[nodiscard]] Wrapping wrapping() const { return wrapping_; }

 private:
  class JsonText;

  Outcome UnwrapCri(std::string_view line, std::string_view& content);
  Outcome UnwrapJsonText(std::string_view line, std::string_view& content);
  // Adds a piece, up to the longest line that is read.
  static void Append(std::string& line, std::string_view piece);

  Wrapping wrapping_;
  std::unique_ptr<JsonText> json_;
  std::array<std::string, 2> pieces_;  // Of a line so far: on standard output, standard error.
  std::string joined_;                 // The line given out last, if it had pieces.
};

}  // namespace sluice::logs
