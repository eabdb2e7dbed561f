#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http_request.h"

namespace sluice::wire {

// Limits of one client on one connection.
struct Http2Limits {
  std::uint32_t streams = 128;           // Requests in flight. More are refused.
  std::size_t header_bytes = 16 * 1024;  // Of one request, counted as RFC 9113, 6.5.2 does.
  std::size_t fields = 100;
  // Bytes of bodies that were received and not consumed: of one request, of all together.
  std::uint32_t stream_window = 64 * 1024;
  std::uint32_t connection_window = 256 * 1024;
  // Idle frames, which request nothing (PING, SETTINGS, WINDOW_UPDATE, PRIORITY, empty DATA): this
  // many at once, this many more per second, and a few with each request. Frames of unknown types
  // are ignored.
  std::uint32_t idle_frames = 1000;
  std::uint32_t idle_frames_per_second = 100;
  // Requests that a client cancels: at once, and per second. Above that, the connection is closed
  // (rapid reset, CVE-2023-44487). Cancellations that the client provokes count too
  // (CVE-2025-8671).
  std::uint32_t resets = 200;
  std::uint32_t resets_per_second = 33;
};

// How the session's user must answer an invalid request.
enum class Http2Fault : std::uint8_t { kNone, kHeaderTooLarge, kBadTarget };

// A request of an HTTP/2 connection, and its answer. Owned by the session; a user may keep a
// pointer from OnHeader() to OnClosed().
class Http2Stream {
 public:
  [[nodiscard]] std::int32_t id() const { return id_; }
  // Without its body. `host` is one of the fields; trailers are dropped.
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] Http2Fault fault() const { return fault_; }
  [[nodiscard]] bool answered() const { return answered_; }

  void* context = nullptr;  // The user's own.

 private:
  friend class Http2Session;
  friend struct Http2Callbacks;

  // Where a field's name and value are in text_, which may still move.
  struct Extent {
    std::size_t name;
    std::size_t name_size;
    std::size_t value;
    std::size_t value_size;
  };

  void Begin(std::int32_t id);
  void AddField(std::string_view name, std::string_view value, const Http2Limits& limits);
  // All fields have arrived: request_'s views can be set.
  void FinishHeader();

  std::int32_t id_ = 0;
  HttpRequest request_;
  Http2Fault fault_ = Http2Fault::kNone;
  std::string text_;
  std::vector<Extent> extents_;
  std::size_t header_bytes_ = 0;
  bool header_done_ = false;
  bool request_done_ = false;

  std::size_t unconsumed_ = 0;  // Bytes of the body that the user has not consumed.

  // The answer's header and then its trailers, which nghttp2 reads until the stream is closed.
  std::string answer_text_;
  std::string trailer_text_;
  std::vector<Extent> trailers_;  // In trailer_text_.
  std::string body_;              // Of the answer; the unsent part begins at sent_.
  std::size_t sent_ = 0;
  bool answered_ = false;  // An answer has begun.
  bool finished_ = false;  // Complete.
  bool deferred_ = false;  // The session waits for more of the body.
};

}  // namespace sluice::wire
