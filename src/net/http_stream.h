#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/result.h"
#include "sluice/time.h"

#include "net/dial.h"
#include "net/tls_context.h"

namespace sluice::net {

class EventLoop;

// One HTTP request over its own connection, with an answer that is passed on as it arrives: also
// one that has no end, such as a stream of events. The only HTTP client; net/http_client.h waits
// for it. One thread, the loop's.
class HttpStream {
 public:
  struct Call {
    DialTarget server;
    std::shared_ptr<const TlsContext> tls{};  // nullptr: none.
    std::string method = "POST";
    std::string target;  // Percent-encoded already.
    std::vector<std::pair<std::string, std::string>> fields{};
    std::string body;
    Duration dial_timeout = std::chrono::seconds(2);
    Duration answer_timeout{};  // From the dial to the answer's end; 0: it may take for ever.
  };

  // A piece of the body of an answer with this status, as it comes. May cancel the stream.
  using OnPiece = std::function<void(int status, std::string_view piece)>;
  // The status, once the body has ended as it should; else what went wrong, and whether the
  // request may have reached the server. Once, and last.
  struct Failure {
    std::string message;
    bool sent = false;
  };
  using OnEnd = std::function<void(tl::expected<int, Failure>)>;

  // Nothing is called back during this.
  [[nodiscard]] static std::shared_ptr<HttpStream> Begin(EventLoop& loop, Call call,
                                                         OnPiece on_piece, OnEnd on_end);
  virtual ~HttpStream() = default;

  // No callback runs after this. After the end: does nothing.
  virtual void Cancel() noexcept = 0;
};

}  // namespace sluice::net
