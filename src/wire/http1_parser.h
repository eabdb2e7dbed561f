#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/http_request.h"
#include "wire/read_buffer.h"

namespace sluice::wire {

// Reads one complete header block (request line, fields, empty line; RFC 9112, 3 and 5). It fills
// an HttpRequest and counts the fields that define where the message ends; Http1Parser evaluates
// those. Created for each request.
class Http1HeaderReader {
 public:
  Http1HeaderReader(HttpRequest& request, std::size_t max_fields)
      : request_(request), max_fields_(max_fields) {}

  // `block`: lines that each end in CR LF, the last of them empty, the first one in HTTP/1.0 or
  // HTTP/1.1. One pass over its bytes. False: it is malformed, or too_many_fields().
  [[nodiscard]] bool Read(std::string_view block);

  [[nodiscard]] bool too_many_fields() const { return too_many_fields_; }

  // A framing field: how often it occurred, and the last value.
  struct Seen {
    int count = 0;
    std::string_view value;
  };
  [[nodiscard]] const Seen& host() const { return host_; }
  [[nodiscard]] const Seen& content_length() const { return content_length_; }
  [[nodiscard]] const Seen& transfer_encoding() const { return transfer_encoding_; }
  [[nodiscard]] const Seen& expect() const { return expect_; }

 private:
  // Read the line that begins at `at`, and move past its end.
  [[nodiscard]] bool ReadRequestLine(const char*& at);
  [[nodiscard]] bool ReadField(const char*& at);
  [[nodiscard]] bool Note(const HttpField& field);
  [[nodiscard]] bool ReadConnection(std::string_view list);

  HttpRequest& request_;
  const std::size_t max_fields_;
  bool too_many_fields_ = false;
  bool close_ = false;       // Connection: close.
  bool keep_alive_ = false;  // Connection: keep-alive.
  Seen host_;
  Seen content_length_;
  Seen transfer_encoding_;
  Seen expect_;
};

// Assembles a chunked body (RFC 9112, 7.1). Strict: only CRLF, sizes of one to 15 hex digits.
// Extensions and trailers are dropped, and bounded.
class ChunkedBody {
 public:
  enum class Outcome : std::uint8_t { kNeedMore, kDone, kMalformed, kTooLarge };

  // Drops the last body, but keeps its memory (up to 64 KiB).
  void Start(std::size_t max_body_bytes);

  // Consumes the front of `input`; `used` is how many bytes. After kNeedMore, pass the rest of
  // `input` again with more bytes after it: less than one line, at most 4 KiB.
  [[nodiscard]] Outcome Take(std::string_view input, std::size_t& used);

  [[nodiscard]] std::string_view body() const { return body_; }

 private:
  enum class State : std::uint8_t { kSize, kData, kDataEnd, kTrailer };

  std::string body_;
  std::size_t max_body_bytes_ = 0;
  std::size_t left_ = 0;      // Of this chunk's data.
  std::size_t overhead_ = 0;  // Bytes of framing.
  State state_ = State::kSize;
};

class Http1HeaderReader;

// Limits of one request. Above them the request is refused and the connection closed.
struct Http1Limits {
  std::size_t header_bytes = 16 * 1024;  // Request line and fields.  431
  std::size_t fields = 100;              // 431
  std::size_t target_bytes = 8 * 1024;   // 414
  std::size_t body_bytes = 1024 * 1024;  // Without chunk framing.  413
};

// Why a request is refused, for the answer. The texts have static lifetime. After an error, nothing
// else on this connection can be trusted: answer, then close it.
struct Http1Error {
  int status = 400;
  std::string_view title;
  std::string_view detail;
};

// Parses requests from a stream of bytes (RFC 9112), without I/O. Usage, per turn of the loop:
//
//   read into parser.Prepare(n); parser.Commit(got);
//   for (;;) switch (parser.Next()) {
//     case kRequest:  handle parser.request();  continue;      // Pipelined: maybe another.
//     case kContinue: send "HTTP/1.1 100 Continue\r\n\r\n";  continue;
//     case kNeedMore: read again;  case kError: answer parser.error(), close;
//   }
//
// Strict where leniency would let two parsers disagree about where a message ends (request
// smuggling): a bare CR or LF, folded lines, white space before a colon, Content-Length beside
// Transfer-Encoding or twice, any coding but chunked, no Host or two are all refused. HTTP/1.0 is
// served, without chunks. Never throws. Allocates nothing once warm, unless a body arrives in
// pieces.
class Http1Parser {
 public:
  enum class Event : std::uint8_t { kNeedMore, kContinue, kRequest, kError };

  explicit Http1Parser(const Http1Limits& limits = {});

  // Room to read into: at least `size` bytes. Invalidates request()'s views, and frees the memory
  // of an unusually large request.
  [[nodiscard]] std::span<char> Prepare(std::size_t size = 4096);
  void Commit(std::size_t size) { buffer_.Commit(size); }
  void Append(std::string_view bytes) { buffer_.Append(bytes); }

  // The next step that the bytes so far allow. kContinue occurs at most once per request, if the
  // client waits for it (Expect: 100-continue) and its body has not arrived; the caller may instead
  // answer the request and close. After kError, it stays kError.
  [[nodiscard]] Event Next();

  // Valid after kRequest, until the next call of Next() or Prepare(). After kContinue and during a
  // body, it has the request without its body.
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] const Http1Error& error() const { return error_; }

  // Bytes received and not yet returned.
  [[nodiscard]] std::string_view pending() const { return buffer_.Data().substr(used_); }

  // The state of the stream, for deadlines: nothing of the next request has arrived (idle), its
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
  std::size_t used_ = 0;     // Bytes of the request returned last: consumed by Next().
  std::size_t line_ = 0;     // Where the header line being looked for begins.
  std::size_t scanned_ = 0;  // How far the search for its end has come.
  std::size_t body_size_ = 0;
  int empty_lines_ = 0;  // Before a request line; a few are accepted.
  bool continue_wanted_ = false;
  std::string kept_header_;  // The header's bytes while a body arrives in pieces.
  ChunkedBody chunks_;
};

}  // namespace sluice::wire
