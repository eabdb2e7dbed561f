#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http_request.h"

namespace sluice::wire {

// What one client may take up on one connection.
struct Http2Limits {
  std::uint32_t streams = 128;           // Requests under way. More are refused.
  std::size_t header_bytes = 16 * 1024;  // Of one request, counted as RFC 9113, 6.5.2 does.
  std::size_t fields = 100;
  // Bytes of bodies that were received and not consumed: of one request, of all together.
  std::uint32_t stream_window = 64 * 1024;
  std::uint32_t connection_window = 256 * 1024;
  // Frames that ask for nothing (PING, SETTINGS, WINDOW_UPDATE, PRIORITY, empty DATA): so many at
  // once, so many more per second, and a few with each request. Kinds that nobody knows are
  // passed over.
  std::uint32_t idle_frames = 1000;
  std::uint32_t idle_frames_per_second = 100;
  // Requests that a client takes back: at once, per second. Above it the connection ends (rapid
  // reset, CVE-2023-44487). Also those that it makes us take back (CVE-2025-8671).
  std::uint32_t resets = 200;
  std::uint32_t resets_per_second = 33;
};

// How a request that is none is to be answered: the session's user does.
enum class Http2Fault : std::uint8_t { kNone, kHeaderTooLarge, kBadTarget };

// A request of an HTTP/2 connection, and its answer on the way out. The session's; a user holds
// a pointer from OnHeader() to OnClosed().
class Http2Stream {
 public:
  [[nodiscard]] std::int32_t id() const { return id_; }
  // Without its body. `host` is among the fields; trailers are dropped.
  [[nodiscard]] const HttpRequest& request() const { return request_; }
  [[nodiscard]] Http2Fault fault() const { return fault_; }
  [[nodiscard]] bool answered() const { return answered_; }

  void* context = nullptr;  // The user's own.

 private:
  friend class Http2Session;
  friend struct Http2Callbacks;

  // Where a field's name and value lie in text_, which may still move.
  struct Extent {
    std::size_t name;
    std::size_t name_size;
    std::size_t value;
    std::size_t value_size;
  };

  void Begin(std::int32_t id);
  void AddField(std::string_view name, std::string_view value, const Http2Limits& limits);
  // All fields are here: request_'s views may be made.
  void FinishHeader();

  std::int32_t id_ = 0;
  HttpRequest request_;
  Http2Fault fault_ = Http2Fault::kNone;
  std::string text_;
  std::vector<Extent> extents_;
  std::size_t header_bytes_ = 0;
  bool header_done_ = false;
  bool request_done_ = false;

  std::size_t unconsumed_ = 0;  // Of the body, by the user.

  // The answer's header, and then its trailers, as nghttp2 reads them: until the stream is closed.
  std::string answer_text_;
  std::string trailer_text_;
  std::vector<Extent> trailers_;  // In trailer_text_.
  std::string body_;              // Of the answer: what is not sent begins at sent_.
  std::size_t sent_ = 0;
  bool answered_ = false;  // An answer has begun.
  bool finished_ = false;  // Nothing will be added to it.
  bool deferred_ = false;  // The session waits for more of the body.
};

}  // namespace sluice::wire
