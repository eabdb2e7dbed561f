#include "net/http_stream.h"

#include <array>
#include <exception>
#include <sstream>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>

#include "net/event_loop.h"
#include "net/tls_transport.h"
#include "net/transport.h"

namespace sluice::net {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

// The body of an answer: its bytes are handed on as they come, out of whatever framing they came
// in.
struct PieceBody {
  using value_type = std::function<void(std::string_view piece)>;

  class reader {
   public:
    template <bool is_request, class Fields>
    reader(http::header<is_request, Fields>& /*head*/, value_type& on_piece)
        : on_piece_(on_piece) {}

    void init(const boost::optional<std::uint64_t>& /*length*/, error_code& error) { error = {}; }
    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      error = {};
      std::size_t size = 0;
      for (const boost::asio::const_buffer buffer : boost::beast::buffers_range_ref(buffers)) {
        on_piece_({static_cast<const char*>(buffer.data()), buffer.size()});
        size += buffer.size();
      }
      return size;
    }
    void finish(error_code& error) { error = {}; }

   private:
    value_type& on_piece_;
  };
};

class Stream final : public HttpStream,
                     public TransportUser,
                     public std::enable_shared_from_this<Stream> {
 public:
  Stream(EventLoop& loop, Call call, OnPiece on_piece, OnEnd on_end)
      : loop_(loop),
        call_(std::move(call)),
        on_piece_(std::move(on_piece)),
        on_end_(std::move(on_end)),
        deadline_([this] {
          using std::chrono::milliseconds;
          const auto limit = std::chrono::duration_cast<milliseconds>(call_.answer_timeout);
          Fail("reach", fmt::format("no answer within {} ms", limit.count()));
        }) {
    parser_.eager(true);
    parser_.body_limit(boost::none);  // The caller's to bound: a stream has no length.
    parser_.get().body() = [this](std::string_view piece) {
      if (!ended_) {
        on_piece_(status(), piece);
      }
    };
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() override { Cancel(); }

  void Start() {
    if (call_.answer_timeout.count() > 0) {
      loop_.ArmAfter(deadline_, call_.answer_timeout);
    }
    dial_ = Dial::Begin(loop_, call_.server, call_.dial_timeout,
                        [this](Result<std::unique_ptr<Transport>> transport) {
                          dial_ = nullptr;
                          OnDialed(std::move(transport));
                        });
  }

  void Cancel() noexcept override {
    ended_ = true;
    deadline_.Cancel();
    if (dial_ != nullptr) {
      std::exchange(dial_, nullptr)->Cancel();
    }
    if (handshake_ != nullptr) {
      std::exchange(handshake_, nullptr)->Cancel();
    }
    if (transport_ != nullptr) {
      transport_->Close();
    }
  }

  void OnWritten(const error_code& error) noexcept override {
    if (!ended_ && error) {
      Fail("send to", error.message());
    }
  }

  void OnRead(const error_code& error, std::size_t size) noexcept override {
    if (ended_) {
      return;
    }
    const auto self = shared_from_this();
    if (error == boost::asio::error::eof) {
      TakeEnd();
      return;
    }
    if (error) {
      Fail("read the answer of", error.message());
      return;
    }
    pending_.append(input_.data(), size);
    if (Parse()) {
      transport_->Read(input_, shared_from_this());
    }
  }

 private:
  void OnDialed(Result<std::unique_ptr<Transport>> transport) {
    if (!transport) {
      FailWith(transport.error().message);
      return;
    }
    if (call_.tls == nullptr) {
      Send(*std::move(transport));
      return;
    }
    handshake_ = TlsHandshake::Begin(
        loop_, *std::move(transport), call_.tls, call_.server.host, call_.dial_timeout, nullptr,
        [this](Result<std::unique_ptr<Transport>> done) {
          handshake_ = nullptr;
          if (done) {
            Send(*std::move(done));
          } else {
            FailWith(call_.server.Text() + ": " + done.error().message);
          }
        });
  }

  [[nodiscard]] int status() const { return static_cast<int>(parser_.get().result_int()); }

  void Send(std::unique_ptr<Transport> transport) {
    transport_ = std::move(transport);
    try {
      output_ = RequestText();
    } catch (const std::exception& problem) {  // Beast's, for a field that is too long.
      Fail("ask", problem.what());
      return;
    }
    sent_ = true;
    transport_->Write(output_, shared_from_this());
    transport_->Read(input_, shared_from_this());
  }

  [[nodiscard]] std::string RequestText() const {
    http::request<http::string_body> request;
    request.method_string(call_.method);
    request.target(call_.target);
    request.body() = call_.body;
    request.set(http::field::host, call_.server.Text());
    request.set(http::field::user_agent, "sluice");
    request.set(http::field::connection, "close");
    for (const auto& [name, value] : call_.fields) {
      request.set(name, value);
    }
    request.prepare_payload();
    std::ostringstream text;
    text << request;
    return text.str();
  }

  // False once it has ended.
  bool Parse() {
    std::size_t used = 0;
    error_code error;
    while (used < pending_.size() && !parser_.is_done() && !ended_) {
      const std::size_t taken = parser_.put(
          boost::asio::const_buffer(pending_.data() + used, pending_.size() - used), error);
      used += taken;
      if (error == http::error::need_more) {
        error = {};
        break;
      }
      if (error) {
        Fail("read the answer of", "it is not HTTP: " + error.message());
        return false;
      }
      if (taken == 0) {
        break;
      }
    }
    pending_.erase(0, used);
    if (!ended_ && parser_.is_done()) {
      End();
    }
    return !ended_;
  }

  void TakeEnd() {
    error_code error;
    if (parser_.got_some()) {
      parser_.put_eof(error);
    } else {
      error = boost::asio::error::eof;
    }
    if (error || !parser_.is_done()) {
      Fail("read the answer of", "it broke off");
    } else {
      End();
    }
  }

  void End() {
    const auto on_end = std::move(on_end_);
    Cancel();
    on_end(status());
  }

  void Fail(std::string_view what, std::string_view why) {
    FailWith(fmt::format("cannot {} {}: {}", what, call_.server.Text(), why));
  }

  void FailWith(std::string message) {
    const auto self = shared_from_this();
    const auto on_end = std::move(on_end_);
    Cancel();
    on_end(tl::unexpected(Failure{.message = std::move(message), .sent = sent_}));
  }

  EventLoop& loop_;
  const Call call_;
  OnPiece on_piece_;
  OnEnd on_end_;
  http::response_parser<PieceBody> parser_;
  Timer deadline_;
  std::shared_ptr<Dial> dial_;
  std::shared_ptr<TlsHandshake> handshake_;
  std::unique_ptr<Transport> transport_;
  std::string output_;
  std::array<char, 16 * 1024> input_{};
  std::string pending_;
  bool sent_ = false;
  bool ended_ = false;
};

}  // namespace

std::shared_ptr<HttpStream> HttpStream::Begin(EventLoop& loop, Call call, OnPiece on_piece,
                                              OnEnd on_end) {
  auto stream =
      std::make_shared<Stream>(loop, std::move(call), std::move(on_piece), std::move(on_end));
  stream->Start();
  return stream;
}

}  // namespace sluice::net
