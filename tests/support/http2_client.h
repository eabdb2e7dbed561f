#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct nghttp2_session;

namespace sluice::support {

// The client's end of an HTTP/2 connection as a test plays it, without I/O.
class Http2Client {
 public:
  Http2Client();
  ~Http2Client();
  Http2Client(const Http2Client&) = delete;
  Http2Client& operator=(const Http2Client&) = delete;

  using Fields = std::vector<std::pair<std::string, std::string>>;

  // Begins a request and returns its stream. `more` leaves its body open.
  std::int32_t Ask(const std::string& method, const std::string& path, const std::string& body = {},
                   const Fields& fields = {}, bool more = false);
  // Goes on with an open body, and ends it.
  void EndBody(std::int32_t stream, const std::string& rest);
  void Reset(std::int32_t stream, std::uint32_t code);
  void Ping();

  // What it has to send, since last time.
  [[nodiscard]] std::string Output();
  // False: the server broke the protocol.
  bool Input(std::string_view bytes);

  struct Answer {
    int status = 0;
    std::map<std::string, std::string> fields;
    std::map<std::string, std::string> trailers;
    std::string body;
    bool ended = false;  // By the server, in order.
    bool closed = false;
    std::uint32_t code = 0;  // Why it was closed.
  };
  std::map<std::int32_t, Answer> answers;
  int goaways = 0;
  std::uint32_t goaway_code = 0;
  int pings = 0;                   // Acknowledged.
  std::uint32_t most_streams = 0;  // What the server's SETTINGS allow.

 private:
  friend struct Http2ClientCalls;
  struct Body {
    std::string bytes;
    bool ended = false;
  };
  nghttp2_session* session_ = nullptr;
  std::map<std::int32_t, Body> bodies_;
};

// A frame by hand (RFC 9113, section 4.1), for what no library would send.
[[nodiscard]] std::string Http2Frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                                     std::string_view payload);

}  // namespace sluice::support
