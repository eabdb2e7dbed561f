#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/chunked_body.h"
#include "wire/http_request.h"
#include "wire/read_buffer.h"

namespace sluice::wire {

class Http1HeaderReader;

// What one request may take up. Above it the request is refused and the connection closed.
struct Http1Limits {
  std::size_t header_bytes = 16 * 1024;  // Request line and fields.  431
  std::size_t fields = 100;              // 431
  std::size_t target_bytes = 8 * 1024;   // 414
  std::size_t body_bytes = 1024 * 1024;  // Without the framing of chunks.  413
};

// Why a request is refused, as the answer should say it. The texts live for ever.
// After an error nothing on this connection can be trusted: answer, then close.
struct Http1Error {
  int status = 400;
  std::string_view title;
  std::string_view detail;
};

// Requests out of a stream of bytes (RFC 9112), sans I/O. Usage, per turn of the loop:
//
//   read into parser.Prepare(n); parser.Commit(got);
//   for (;;) switch (parser.Next()) {
//     case kRequest:  handle parser.request();  continue;      // Pipelined: maybe another.
//     case kContinue: send "HTTP/1.1 100 Continue\r\n\r\n";  continue;
//     case kNeedMore: read again;  case kError: answer parser.error(), close;
//   }
//
// Strict where leniency lets two parsers disagree on where a message ends (request
// smuggling): a bare CR or LF, folded lines, white space before a colon, Content-Length
// beside Transfer-Encoding or twice, any coding but chunked, no Host or two: all refused.
// HTTP/1.0 is served, without chunks. Never throws. Allocates nothing once warm, unless a
// body comes in pieces.
class Http1Parser {
 public:
  enum class Event : std::uint8_t { kNeedMore, kContinue, kRequest, kError };

  explicit Http1Parser(const Http1Limits& limits = {});

  // Room to read into: at least `size` bytes. Ends the life of request()'s views, and gives the
  // memory of an unusually large request back.
  [[nodiscard]] std::span<char> Prepare(std::size_t size = 4096);
  void Commit(std::size_t size) { buffer_.Commit(size); }
  void Append(std::string_view bytes) { buffer_.Append(bytes); }

  // The next thing that the bytes so far say. kContinue comes at most once per request, only
  // where the client waits for it (Expect: 100-continue) and its body is not here yet; one
  // may answer the request instead and close. After kError it stays kError.
  [[nodiscard]] Event Next();

  // After kRequest, until the next call of Next() or Prepare(). After kContinue and during a
  // body it holds the request without its body.
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] const Http1Error& error() const { return error_; }

  // What has come and was not given out yet.
  [[nodiscard]] std::string_view pending() const { return buffer_.Data().substr(used_); }

  // Where the stream stands, for deadlines: nothing of a next request has come (idle), its
  // header is incomplete, or its body is.
  enum class Phase : std::uint8_t { kIdle, kHeader, kBody };
  [[nodiscard]] Phase phase() const;

 private:
  enum class State : std::uint8_t { kHeader, kLengthBody, kChunkedBody, kFailed };

  Event Fail(int status, std::string_view detail);
  Event NextHeader();
  Event NextBody();
  Event Refuse(const Http1HeaderReader& header);
  void KeepHeader(std::string_view block);
  void GiveOut(std::string_view body, std::size_t used);

  Http1Limits limits_;
  ReadBuffer buffer_;
  HttpRequest request_;
  Http1Error error_;
  State state_ = State::kHeader;
  std::size_t used_ = 0;     // Bytes of the request last given out: consumed by Next().
  std::size_t line_ = 0;     // Where the header line being looked for begins.
  std::size_t scanned_ = 0;  // How far its end has been searched.
  std::size_t body_size_ = 0;
  int empty_lines_ = 0;  // Before a request line; a few are tolerated.
  bool continue_wanted_ = false;
  std::string kept_header_;  // The header's bytes while a body comes in pieces.
  ChunkedBody chunks_;
};

}  // namespace sluice::wire
