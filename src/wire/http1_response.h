#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::wire {

// "Too Many Requests" for 429; "Unknown" for a status that Sluice never sends.
[[nodiscard]] std::string_view StatusPhrase(int status);

struct Http1ResponseHead {
  int status = 200;
  bool keep_alive = true;   // False says Connection: close.
  int minor_version = 1;    // The request's: a 1.0 client needs an explicit keep-alive.
  bool head_only = false;   // The request was HEAD: all fields, no body.
  std::string_view date{};  // An IMF-fixdate kept by the caller; "" sends no Date.
};

// Appends one response to `out`: construct, any number of Field(), then Finish() once. Allocates
// only as `out` grows. Line breaks in a field's value become spaces, so no value can start a second
// response. Date and content type are used as they are.
class Http1Response {
 public:
  Http1Response(std::string& out, const Http1ResponseHead& head);

  Http1Response& Field(std::string_view name, std::string_view value);

  // Content-Type (unless ""), Content-Length and the body.
  void Finish(std::string_view content_type, std::string_view body);

 private:
  std::string& out_;
  bool head_only_;
};

inline constexpr std::string_view kContinueResponse = "HTTP/1.1 100 Continue\r\n\r\n";

// "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7). The last text is cached, so all answers within
// a second share it. One thread.
class DateText {
 public:
  // Seconds since 1970, UTC; 0 to the end of the year 9999.
  [[nodiscard]] std::string_view At(std::int64_t unix_seconds);

 private:
  std::int64_t second_ = -1;
  std::string text_;
};

}  // namespace sluice::wire
