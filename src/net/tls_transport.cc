#include "net/tls_transport.h"

#include <array>
#include <utility>

#include <boost/asio/error.hpp>

#include "base/assert.h"
#include "base/fault.h"
#include "net/event_loop.h"
#include "net/tls_session.h"

namespace sluice::net {
namespace {

using boost::system::error_code;

constexpr std::size_t kReadBytes = 8 * 1024;
// Answers of the protocol's own (key updates) that its peer does not take: above it nothing more
// is read from that peer.
constexpr std::size_t kMostUnsent = 64 * 1024;
// A buffer that a large answer stretched is not kept.
constexpr std::size_t kMostKept = 64 * 1024;

class TlsStream;

// A read or write under way below, on behalf of a user. It, and not the stream, keeps the user
// alive, who keeps the stream alive: so there is no circle that outlives a loop that was stopped.
struct ReadTurn final : TransportUser, std::enable_shared_from_this<ReadTurn> {
  std::shared_ptr<TlsStream> stream;
  std::span<char> into;
  std::shared_ptr<TransportUser> user;

  void OnRead(const error_code& error, std::size_t size) noexcept override;
  void OnWritten(const error_code&) noexcept override {}
};

struct WriteTurn final : TransportUser, std::enable_shared_from_this<WriteTurn> {
  std::shared_ptr<TlsStream> stream;
  std::shared_ptr<TransportUser> user;  // None: what is written is the protocol's own.
  // Whose bytes were sealed meanwhile, and who may not read before they are out.
  std::shared_ptr<TransportUser> next_user;
  std::shared_ptr<ReadTurn> parked;

  void OnRead(const error_code&, std::size_t) noexcept override {}
  void OnWritten(const error_code& error) noexcept override;
};

// The connection: a session over the transport below.
class TlsStream : public std::enable_shared_from_this<TlsStream> {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): sealed_input is written by reads.
  TlsStream(EventLoop& loop_in, std::unique_ptr<Transport> under_in,
            std::shared_ptr<const TlsContext> context, std::string_view server_name)
      : loop(loop_in), under(std::move(under_in)), session(std::move(context), server_name) {}

  // Decrypts what has arrived, or reads more first. `later`: the user must not be called in here.
  void Read(std::shared_ptr<ReadTurn> turn, bool later) {
    const TlsSession::Opened opened = session.Read(turn->into);
    Flush(nullptr);
    switch (opened.step) {
      case TlsSession::Step::kNeedsInput:
        if (writing != nullptr && session.output().size() > kMostUnsent) {
          writing->parked = std::move(turn);
          return;
        }
        under->Read(sealed_input, std::move(turn));
        return;
      case TlsSession::Step::kDone:
        EndRead(std::move(turn), {}, opened.size, later);
        return;
      case TlsSession::Step::kEnded:
        EndRead(std::move(turn), boost::asio::error::eof, 0, later);
        return;
      case TlsSession::Step::kFailed:
        EndRead(std::move(turn), boost::asio::error::connection_aborted, 0, later);
        return;
    }
  }

  void OnRead(std::shared_ptr<ReadTurn> turn, const error_code& error, std::size_t size) {
    if (error) {
      // An end that was not announced is no end.
      EndRead(std::move(turn),
              error == boost::asio::error::eof ? boost::asio::error::connection_reset : error, 0,
              /*later=*/false);
      return;
    }
    session.Feed({sealed_input.data(), size});
    Read(std::move(turn), /*later=*/false);
  }

  void EndRead(std::shared_ptr<ReadTurn> turn, error_code error, std::size_t size, bool later) {
    if (!later) {
      turn->user->OnRead(error, size);
      return;
    }
    loop.Post([turn = std::move(turn), error, size] {
      const bool gone = turn->stream->closed;
      turn->user->OnRead(gone ? boost::asio::error::operation_aborted : error, gone ? 0 : size);
    });
  }

  void Write(std::string_view bytes, std::shared_ptr<TransportUser> user) {
    if (session.Write(bytes) == TlsSession::Step::kDone) {
      Flush(std::move(user));
      return;
    }
    loop.Post(
        [user = std::move(user)] { user->OnWritten(boost::asio::error::connection_aborted); });
  }

  // Sends what the session has to say; `user`, if any, hears when its bytes are out.
  void Flush(std::shared_ptr<TransportUser> user) {
    if (writing != nullptr) {
      if (user != nullptr) {
        writing->next_user = std::move(user);
      }
      return;
    }
    if (session.output().empty()) {
      if (user != nullptr) {  // It wrote nothing.
        loop.Post([user = std::move(user)] { user->OnWritten({}); });
      }
      return;
    }
    std::swap(session.output(), sealed_output);
    auto turn = std::make_shared<WriteTurn>();
    turn->stream = shared_from_this();
    turn->user = std::move(user);
    writing = turn.get();
    under->Write(sealed_output, std::move(turn));
  }

  void OnWritten(WriteTurn& turn, const error_code& error) {
    writing = nullptr;
    sealed_output.clear();
    if (sealed_output.capacity() > kMostKept) {
      sealed_output.shrink_to_fit();
    }
    if (!error && !closed) {
      Flush(std::move(turn.next_user));
      if (shutting_down && writing == nullptr) {
        under->ShutdownWrite();
      }
    } else if (turn.next_user != nullptr) {
      turn.next_user->OnWritten(error ? error : boost::asio::error::operation_aborted);
    }
    if (turn.parked != nullptr) {
      Read(std::move(turn.parked), /*later=*/true);
    }
    if (turn.user != nullptr) {
      turn.user->OnWritten(error);
    }
  }

  void ShutdownWrite() {
    session.ShutdownWrite();
    shutting_down = true;
    Flush(nullptr);
    if (writing == nullptr) {
      under->ShutdownWrite();
    }
  }

  // The peer should know that this is our end; a write that is tried before the close mostly
  // gets out, and where it does not, closing is what matters.
  void Close() {
    if (closed) {
      return;
    }
    closed = true;
    session.ShutdownWrite();
    Flush(nullptr);
    under->Close();
  }

  EventLoop& loop;
  const std::unique_ptr<Transport> under;
  TlsSession session;
  std::array<char, kReadBytes> sealed_input;
  std::string sealed_output;     // Being written: stays put until OnWritten().
  WriteTurn* writing = nullptr;  // The write under way.
  bool shutting_down = false;
  bool closed = false;
};

void ReadTurn::OnRead(const error_code& error, std::size_t size) noexcept {
  stream->OnRead(shared_from_this(), error, size);
}

void WriteTurn::OnWritten(const error_code& error) noexcept {
  const auto self = shared_from_this();
  stream->OnWritten(*self, error);
}

class TlsTransport final : public Transport {
 public:
  explicit TlsTransport(std::shared_ptr<TlsStream> stream)
      : stream_(std::move(stream)), protocol_(stream_->session.protocol()) {}
  ~TlsTransport() override { stream_->Close(); }
  TlsTransport(const TlsTransport&) = delete;
  TlsTransport& operator=(const TlsTransport&) = delete;

  void Read(std::span<char> into, std::shared_ptr<TransportUser> user) override {
    auto turn = std::make_shared<ReadTurn>();
    turn->stream = stream_;
    turn->into = into;
    turn->user = std::move(user);
    stream_->Read(std::move(turn), /*later=*/true);
  }
  void Write(std::string_view bytes, std::shared_ptr<TransportUser> user) override {
    stream_->Write(bytes, std::move(user));
  }
  void ShutdownWrite() noexcept override { stream_->ShutdownWrite(); }
  void Close() noexcept override { stream_->Close(); }
  [[nodiscard]] std::string_view peer_address() const override {
    return stream_->under->peer_address();
  }
  [[nodiscard]] std::string_view protocol() const override { return protocol_; }

 private:
  const std::shared_ptr<TlsStream> stream_;
  const std::string protocol_;
};

class HandshakeUnderWay final : public TlsHandshake,
                                public TransportUser,
                                public std::enable_shared_from_this<HandshakeUnderWay> {
 public:
  HandshakeUnderWay(std::shared_ptr<TlsStream> stream, TlsCounters* counters, OnDone on_done)
      : stream_(std::move(stream)),
        counters_(counters),
        on_done_(std::move(on_done)),
        timer_([this] { OnTimeout(); }) {}

  void Begin(Duration timeout) {
    stream_->loop.ArmAfter(timer_, timeout);
    // Not in the caller's call, for a client may fail before anything was sent.
    stream_->loop.Post([self = shared_from_this()] { self->Step(); });
  }

  void Cancel() noexcept override {
    if (on_done_) {
      on_done_ = nullptr;
      timer_.Cancel();
      stream_->Close();
    }
  }

  void OnRead(const error_code& error, std::size_t size) noexcept override {
    const auto self = shared_from_this();
    if (!on_done_) {
      return;
    }
    if (error) {
      Fail(&TlsCounters::failed, "the peer left: " + error.message());
      return;
    }
    stream_->session.Feed({stream_->sealed_input.data(), size});
    Step();
  }
  void OnWritten(const error_code&) noexcept override {}  // The stream's own turns write.

 private:
  void Step() {
    if (!on_done_) {
      return;
    }
    const TlsSession::Step step = stream_->session.Handshake();
    stream_->Flush(nullptr);
    if (step == TlsSession::Step::kNeedsInput) {
      stream_->under->Read(stream_->sealed_input, shared_from_this());
    } else if (step == TlsSession::Step::kDone) {
      timer_.Cancel();
      Count(&TlsCounters::done);
      std::exchange(on_done_, nullptr)(std::make_unique<TlsTransport>(stream_));
    } else {
      const std::string& why = stream_->session.failure();
      Fail(&TlsCounters::failed, why.empty() ? "the peer closed the connection" : why);
    }
  }

  void OnTimeout() {
    const auto self = shared_from_this();
    Fail(&TlsCounters::timed_out, "the peer did not finish the handshake in time");
  }

  void Fail(std::atomic<std::uint64_t> TlsCounters::* what, const std::string& why) {
    timer_.Cancel();
    Count(what);
    stream_->Close();
    std::exchange(on_done_, nullptr)(Fault("TLS handshake: " + why));
  }

  void Count(std::atomic<std::uint64_t> TlsCounters::* what) {
    if (counters_ != nullptr) {
      (counters_->*what).fetch_add(1, std::memory_order_relaxed);
    }
  }

  const std::shared_ptr<TlsStream> stream_;
  TlsCounters* const counters_;
  OnDone on_done_;  // Empty: over.
  Timer timer_;
};

}  // namespace

std::shared_ptr<TlsHandshake> TlsHandshake::Begin(EventLoop& loop, std::unique_ptr<Transport> under,
                                                  std::shared_ptr<const TlsContext> context,
                                                  std::string_view server_name, Duration timeout,
                                                  TlsCounters* counters, OnDone on_done) {
  auto handshake = std::make_shared<HandshakeUnderWay>(
      std::make_shared<TlsStream>(loop, std::move(under), std::move(context), server_name),
      counters, std::move(on_done));
  handshake->Begin(timeout);
  return handshake;
}

}  // namespace sluice::net
