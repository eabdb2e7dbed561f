#include "net/http_stream.h"

#include <array>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <fmt/format.h>

#include "net/event_loop.h"
#include "net/tls_transport.h"
#include "net/transport.h"

namespace sluice::net {

namespace {

namespace http = boost::beast::http;
using boost::system::error_code;

// Takes an answer apart and hands its body on, out of whatever framing it came in.
class AnswerParser final : public http::basic_parser<false> {
 public:
  explicit AnswerParser(std::function<void(std::string_view)> on_body)
      : on_body_(std::move(on_body)) {
    eager(true);
    body_limit(boost::none);  // The caller's to bound: a stream has no length.
  }
  [[nodiscard]] int status() const { return status_; }

 private:
  using Text = boost::beast::string_view;

  void on_request_impl(http::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int status, Text, int, error_code&) override { status_ = status; }
  void on_field_impl(http::field, Text, Text, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text body, error_code&) override {
    on_body_({body.data(), body.size()});
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code&) override {
    on_body_({body.data(), body.size()});
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::function<void(std::string_view)> on_body_;
  int status_ = 0;
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
        parser_([this](std::string_view piece) {
          if (!ended_) {
            on_piece_(parser_.status(), piece);
          }
        }),
        deadline_([this] { Fail("no answer in time"); }) {}
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
      Fail(error.message());
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
      Fail(error.message());
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
      Fail(transport.error().message);
      return;
    }
    if (call_.tls == nullptr) {
      Send(*std::move(transport));
      return;
    }
    handshake_ = TlsHandshake::Begin(loop_, *std::move(transport), call_.tls, call_.server.host,
                                     call_.dial_timeout, nullptr,
                                     [this](Result<std::unique_ptr<Transport>> done) {
                                       handshake_ = nullptr;
                                       if (done) {
                                         Send(*std::move(done));
                                       } else {
                                         Fail(done.error().message);
                                       }
                                     });
  }

  void Send(std::unique_ptr<Transport> transport) {
    transport_ = std::move(transport);
    const bool six = call_.server.host.find(':') != std::string::npos;
    output_ =
        fmt::format("POST {} HTTP/1.1\r\nHost: {}{}{}:{}\r\nConnection: close\r\n", call_.target,
                    six ? "[" : "", call_.server.host, six ? "]" : "", call_.server.port);
    for (const auto& [name, value] : call_.fields) {
      output_ += fmt::format("{}: {}\r\n", name, value);
    }
    output_ += fmt::format("Content-Length: {}\r\n\r\n", call_.body.size());
    output_ += call_.body;
    sent_ = true;
    transport_->Write(output_, shared_from_this());
    transport_->Read(input_, shared_from_this());
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
        Fail("the answer is not HTTP: " + error.message());
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
      Fail("the answer broke off");
    } else {
      End();
    }
  }

  void End() {
    const auto on_end = std::move(on_end_);
    Cancel();
    on_end(parser_.status());
  }

  void Fail(const std::string& message) {
    const auto self = shared_from_this();
    const auto on_end = std::move(on_end_);
    Failure failure{.message = call_.server.Text() + ": " + message, .sent = sent_};
    Cancel();
    on_end(tl::unexpected(std::move(failure)));
  }

  EventLoop& loop_;
  const Call call_;
  OnPiece on_piece_;
  OnEnd on_end_;
  AnswerParser parser_;
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
