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

// Told what comes in, during Receive() and Send(). All of these may answer, reset and consume;
// none may call Receive() or Send(), or destroy the session.
class Http2User {
 public:
  virtual ~Http2User() = default;

  // A request has come without its body; `whole` says that it has none. Where
  // stream.fault() says so, it is to be refused.
  virtual void OnHeader(Http2Stream& stream, bool whole) noexcept = 0;
  // Some of its body. The client may send as much again once it is Consume()d.
  virtual void OnBody(Http2Stream& stream, std::string_view bytes) noexcept = 0;
  // It is whole. Not after OnHeader() with `whole`.
  virtual void OnEnd(Http2Stream& stream) noexcept = 0;
  // Answered and gone, or taken back: the last word about it.
  virtual void OnClosed(Http2Stream& stream) noexcept = 0;
};

// The server's side of one HTTP/2 connection (RFC 9113), sans I/O, over nghttp2, which has the
// framing, HPACK and flow control. Per turn of the loop:
//
//   Receive(what came);  answer what can be answered;  Send() what is to go out, in one write
//
// A client can make it hold at most streams x (header + stream's answers) + connection_window
// bytes, and nghttp2's own bounded queues; whoever drives it reads no more while much is unsent.
// What a client does wrong is its connection's end, said with GOAWAY. One thread.
class Http2Session {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `user` outlives it. The client's preface is the first thing to be received.
  Http2Session(Http2User& user, std::shared_ptr<Http2Memory> memory, const Http2Limits& limits,
               Time now);
  ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // False: the connection is broken; send what there is and close.
  [[nodiscard]] bool Receive(std::string_view bytes, Time now);

  // Appends frames to `out` until it holds `most` bytes or a little more, or there are none.
  void Send(std::string& out, std::size_t most);

  // Nothing more will be received or sent: close.
  [[nodiscard]] bool finished() const;
  // Frames wait to be sent (or for the client's windows to open: see blocked()).
  [[nodiscard]] bool wants_to_send() const;
  // The client is in the middle of a header, and how many it has begun.
  [[nodiscard]] bool in_header() const { return in_header_; }
  [[nodiscard]] std::uint64_t headers() const { return headers_; }
  // Streams between OnHeader() and OnClosed().
  [[nodiscard]] std::size_t open() const { return open_; }

  // Begins the answer, once per stream: status 200 to 599, names in lower case. The body goes with
  // it; `last` says that it is all. An answer that is whole before its request ends the
  // request: the client is told not to go on (RFC 9113, 8.1).
  void Answer(Http2Stream& stream, int status, std::span<const HttpField> fields,
              std::string_view body, bool last = true);
  // More of the body of an answer that was not the last.
  void Append(Http2Stream& stream, std::string_view body);
  // The end of such an answer, with trailers or without.
  void Finish(Http2Stream& stream, std::span<const HttpField> trailers = {});

  // Takes a stream back. `code` is an error code of RFC 9113, section 7.
  void Reset(Http2Stream& stream, std::uint32_t code);

  // So many bytes of a body are done with: of its stream, and of the connection.
  void Consume(Http2Stream& stream, std::size_t size);

  // Tells the client to open no more streams; those on their way still count (GOAWAY with the
  // highest number). With `final`, those that have come are the last.
  void Shutdown(bool final);

  static constexpr std::uint32_t kNoError = 0;
  static constexpr std::uint32_t kInternalError = 2;
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
  std::vector<std::unique_ptr<Http2Stream>> streams_;  // All that were ever needed.
  std::vector<Http2Stream*> free_;
  std::size_t open_ = 0;
  double idle_frames_left_;
  double resets_left_;
  Time last_refill_;
  std::uint64_t headers_ = 0;
  std::size_t continuations_ = 0;  // Of the last header.
  bool in_header_ = false;
  bool ended_ = false;  // By us: what still comes is passed over.
  bool left_ = false;   // The client said that it goes: it begins nothing more.
  bool broken_ = false;
};

// What a client that speaks HTTP/2 sends first (RFC 9113, 3.4).
inline constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

}  // namespace sluice::wire
