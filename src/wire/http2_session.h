#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http2_memory.h"
#include "wire/http2_stream.h"
#include "wire/http_request.h"

struct nghttp2_session;

namespace sluice::wire {

// Callbacks for received data, during Receive() and Send(). They may answer, reset and consume;
// they must not call Receive() or Send(), or destroy the session.
class Http2User {
 public:
  virtual ~Http2User() = default;

  // A request has arrived, without its body; `whole`: it has none. After a stream.fault(), it must
  // be refused.
  virtual void OnHeader(Http2Stream& stream, bool whole) noexcept = 0;
  // A part of its body. The client may send as much again after Consume().
  virtual void OnBody(Http2Stream& stream, std::string_view bytes) noexcept = 0;
  // The request is complete. Not called after OnHeader() with `whole`.
  virtual void OnEnd(Http2Stream& stream) noexcept = 0;
  // Answered and closed, or cancelled: the last call for it.
  virtual void OnClosed(Http2Stream& stream) noexcept = 0;
};

// The server's side of one HTTP/2 connection (RFC 9113), without I/O. nghttp2 does framing, HPACK
// and flow control. Per turn of the loop:
//
//   Receive(received bytes);  answer what can be answered;  write the bytes of Send(), in one write
//
// A client can make it hold at most streams x (header + stream's answers) + connection_window
// bytes, and nghttp2's bounded queues; the caller must stop reading while much is unsent. After a
// protocol error of the client, the connection ends with GOAWAY. One thread.
class Http2Session {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `user` outlives it. The client's preface must be received first.
  Http2Session(Http2User& user, std::shared_ptr<Http2Memory> memory, const Http2Limits& limits,
               Time now);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // False: the connection is broken; send the remaining bytes and close it.
  [[nodiscard]] bool Receive(std::string_view bytes, Time now);

  // Appends frames to `out` until it has `most` bytes or slightly more, or none are left.
  void Send(std::string& out, std::size_t most);

  // Nothing more will be received or sent: close the connection.
  [[nodiscard]] bool finished() const;
  // Whether the client is in the middle of a header, and how many it has begun.
  [[nodiscard]] bool in_header() const { return in_header_; }
  [[nodiscard]] std::uint64_t headers() const { return headers_; }
  // Streams between OnHeader() and OnClosed().
  [[nodiscard]] std::size_t open() const { return open_; }

  // Begins the answer, once per stream: status 200 to 599, names in lower case. The body is sent
  // with it; `last`: it is complete. An answer that is complete before its request ends the
  // request: the client is asked to stop sending (RFC 9113, 8.1).
  void Answer(Http2Stream& stream, int status, std::span<const HttpField> fields,
              std::string_view body, bool last = true);
  // A further part of the body of an unfinished answer.
  void Append(Http2Stream& stream, std::string_view body);
  // The end of such an answer, with or without trailers.
  void Finish(Http2Stream& stream, std::span<const HttpField> trailers = {});

  // This many bytes of a body have been processed, for its stream and for the connection.
  void Consume(Http2Stream& stream, std::size_t size);

  // Asks the client to open no more streams; those on their way are still accepted (GOAWAY with the
  // highest number). With `final`, only those that have arrived are.
  void Shutdown(bool final);

  static constexpr std::uint32_t kNoError = 0;
  static constexpr std::uint32_t kCancel = 8;

 private:
  friend struct Http2Callbacks;

  Http2Stream& Take(std::int32_t id);
  void Release(Http2Stream& stream);
  void Refill(Time now);
  void SpendIdleFrame();
  void SpendReset();
  void CountContinuation();
  void EndCalmly();

  Http2User& user_;
  const std::shared_ptr<Http2Memory> memory_;
  const Http2Limits limits_;
  nghttp2_session* session_ = nullptr;
  std::vector<std::unique_ptr<Http2Stream>> streams_;  // As many as were ever needed at once.
  std::vector<Http2Stream*> free_;
  std::size_t open_ = 0;
  double idle_frames_left_;
  double resets_left_;
  Time last_refill_;
  std::uint64_t headers_ = 0;
  std::size_t continuations_ = 0;  // Of the last header.
  bool in_header_ = false;
  bool ended_ = false;  // By us: further data is ignored.
  bool left_ = false;   // The client announced its end: it opens no more streams.
  bool broken_ = false;
};

// The first bytes of an HTTP/2 client (RFC 9113, 3.4).
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

}  // namespace sluice::wire
