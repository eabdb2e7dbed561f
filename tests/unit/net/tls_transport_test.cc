#include "net/tls_transport.h"

#include <array>
#include <string>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/event_loop.h"
#include "net/listener.h"
#include "net/tcp_transport.h"
#include "support/test_certificates.h"

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;
using support::TestAuthority;
using testing::HasSubstr;

// One end: keeps what it reads, and reads until the end or an error.
class End : public TransportUser, public std::enable_shared_from_this<End> {
 public:
  explicit End(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  void Read() {
    ASSERT_FALSE(reading);
    reading = true;
    transport_->Read(buffer_, shared_from_this());
  }
  void Write(std::string bytes) {
    sent_ = std::move(bytes);
    transport_->Write(sent_, shared_from_this());
  }
  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override {
    reading = false;
    read_error = error;
    got.append(buffer_.data(), size);
    if (!error && keep_reading) {
      Read();
    }
  }
  void OnWritten(const boost::system::error_code& error) noexcept override {
    ++written;
    write_error = error;
  }
  Transport& transport() { return *transport_; }

  std::string got;
  boost::system::error_code read_error;
  boost::system::error_code write_error;
  int written = 0;
  bool keep_reading = true;
  bool reading = false;

 private:
  std::unique_ptr<Transport> transport_;
  std::array<char, 4096> buffer_{};
  std::string sent_;
};

class TlsTransportTest : public testing::Test {
 protected:
  TlsTransportTest() { Listen(std::chrono::seconds(60)); }
  // What is under way must end before its users are gone.
  ~TlsTransportTest() override {
    if (handshake_) {
      handshake_->Cancel();
    }
    if (client_) {
      client_->transport().Close();
    }
    for (const auto& server : servers_) {
      server->transport().Close();
    }
    listener_.reset();
    loop_.Poll();
    client_.reset();
    servers_.clear();
    loop_.Poll();
    EXPECT_EQ(limit_.open(), 0U);
  }

  [[nodiscard]] std::shared_ptr<const TlsContext> ServerContext(const std::string& name) const {
    const auto own = authority_.Sign(name);
    return *TlsContext::Server({.certificate = {"crt", own.certificate},
                                .key = {"key", own.key},
                                .protocols = {"h2", "http/1.1"}});
  }

  void Listen(Duration handshake_timeout) {
    auto opened = Listener::Open(
        loop_, *ParseAddress("127.0.0.1:0"), limit_,
        [this](std::unique_ptr<Transport> transport) {
          servers_.push_back(std::make_shared<End>(std::move(transport)));
          servers_.back()->Read();
        },
        ListenerTls{context_, counters_, handshake_timeout});
    ASSERT_TRUE(opened);
    listener_ = std::move(*opened);
  }

  tcp::socket ConnectPlain() {
    tcp::socket socket(loop_.context());
    socket.connect(listener_->endpoint());
    return socket;
  }

  void BeginClient(const std::string& name) {
    handshake_ = TlsHandshake::Begin(loop_, MakeTcpTransport(ConnectPlain()), trust_, name,
                                     std::chrono::seconds(60), nullptr,
                                     [this](Result<std::unique_ptr<Transport>> done) {
                                       if (done) {
                                         client_ = std::make_shared<End>(std::move(*done));
                                       } else {
                                         failure_ = done.error().message;
                                       }
                                     });
  }

  void Connect(const std::string& name = "localhost") {
    const std::size_t before = servers_.size();
    BeginClient(name);
    RunUntil([&] { return client_ != nullptr && servers_.size() > before; });
  }

  // Runs the loop until `done`; a test that waits for ever is stopped by ctest.
  template <class Condition>
  void RunUntil(const Condition& done) {
    while (!done()) {
      loop_.RunOne();
    }
  }

  TestAuthority authority_;
  CurrentTlsContext context_{ServerContext("localhost")};
  std::shared_ptr<const TlsContext> trust_ = *TlsContext::Client(
      {.ca = PemFile{"ca", authority_.certificate()}, .protocols = {"http/1.1"}});
  ConnectionLimit limit_{100};
  TlsCounters counters_;
  EventLoop loop_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::shared_ptr<End>> servers_;
  std::shared_ptr<TlsHandshake> handshake_;
  std::shared_ptr<End> client_;
  std::string failure_;
};

TEST_F(TlsTransportTest, CarriesMuchBothWaysAtOnce) {
  Connect();
  EXPECT_EQ(servers_[0]->transport().protocol(), "http/1.1");
  EXPECT_EQ(client_->transport().protocol(), "http/1.1");
  EXPECT_EQ(servers_[0]->transport().peer_address(), "127.0.0.1");
  client_->Read();
  const std::string up(3'000'000, 'u');
  const std::string down(2'000'000, 'd');
  client_->Write(up);
  servers_[0]->Write(down);
  RunUntil(
      [&] { return servers_[0]->got.size() >= up.size() && client_->got.size() >= down.size(); });
  EXPECT_EQ(servers_[0]->got, up);
  EXPECT_EQ(client_->got, down);
  RunUntil([&] { return client_->written == 1 && servers_[0]->written == 1; });
  EXPECT_FALSE(client_->write_error);
  EXPECT_EQ(counters_.done, 1U);
}

TEST_F(TlsTransportTest, WhatCameWithTheHandshakesLastBytesIsRead) {
  BeginClient("localhost");
  RunUntil([&] { return client_ != nullptr; });
  client_->Write("at once");  // Likely in one segment with what ends the handshake.
  RunUntil([&] { return !servers_.empty() && servers_[0]->got == "at once"; });
}

TEST_F(TlsTransportTest, AUserIsNeverCalledInsideItsOwnCall) {
  Connect();
  servers_[0]->keep_reading = false;
  client_->Write(std::string(10'000, 'x'));
  RunUntil([&] { return !servers_[0]->reading; });
  // More is there already than one read takes; still the answer comes later.
  const std::size_t before = servers_[0]->got.size();
  servers_[0]->Read();
  EXPECT_EQ(servers_[0]->got.size(), before);
  RunUntil([&] { return servers_[0]->got.size() > before; });
}

TEST_F(TlsTransportTest, AnEndIsToldAndAnswersStillArrive) {
  Connect();
  client_->Read();
  client_->transport().ShutdownWrite();
  RunUntil([&] { return static_cast<bool>(servers_[0]->read_error); });
  EXPECT_EQ(servers_[0]->read_error, boost::asio::error::eof);
  servers_[0]->Write("the answer");
  RunUntil([&] { return client_->got == "the answer"; });
  servers_[0]->transport().ShutdownWrite();
  RunUntil([&] { return client_->read_error == boost::asio::error::eof; });
}

TEST_F(TlsTransportTest, ACloseIsAnEndToThePeer) {
  Connect();
  client_->Read();
  loop_.Poll();  // Nothing is being written any more.
  servers_[0]->transport().Close();
  servers_[0]->transport().Close();
  RunUntil([&] { return static_cast<bool>(client_->read_error); });
  EXPECT_EQ(client_->read_error, boost::asio::error::eof);
  RunUntil([&] { return servers_[0]->read_error == boost::asio::error::operation_aborted; });
}

// A socket whose end nobody announced: as if somebody had cut the line.
class Cut final : public Transport {
 public:
  explicit Cut(std::unique_ptr<Transport> under) : under_(std::move(under)) {}
  void Read(std::span<char> into, std::shared_ptr<TransportUser> user) override {
    under_->Read(into, std::move(user));
  }
  void Write(std::string_view bytes, std::shared_ptr<TransportUser> user) override {
    if (!mute) {
      under_->Write(bytes, std::move(user));
    }
  }
  void ShutdownWrite() noexcept override { under_->ShutdownWrite(); }
  void Close() noexcept override { under_->Close(); }
  [[nodiscard]] std::string_view peer_address() const override { return under_->peer_address(); }

  bool mute = false;

 private:
  std::unique_ptr<Transport> under_;
};

TEST_F(TlsTransportTest, AnEndThatNobodyAnnouncedIsAnError) {
  auto cut = std::make_unique<Cut>(MakeTcpTransport(ConnectPlain()));
  Cut* const line = cut.get();
  handshake_ =
      TlsHandshake::Begin(loop_, std::move(cut), trust_, "localhost", std::chrono::seconds(60),
                          nullptr, [this](Result<std::unique_ptr<Transport>> done) {
                            client_ = std::make_shared<End>(std::move(*done));
                          });
  RunUntil([&] { return client_ != nullptr && !servers_.empty(); });
  line->mute = true;
  client_->transport().ShutdownWrite();
  line->ShutdownWrite();
  RunUntil([&] { return static_cast<bool>(servers_[0]->read_error); });
  EXPECT_EQ(servers_[0]->read_error, boost::asio::error::connection_reset);
}

TEST_F(TlsTransportTest, ANewCertificateIsForNewConnectionsAndTheOldGoOn) {
  Connect();
  context_.Set(ServerContext("renewed.example"));
  const std::shared_ptr<End> old = std::exchange(client_, nullptr);
  Connect("renewed.example");
  EXPECT_EQ(servers_.size(), 2U);
  old->Write("still here");
  RunUntil([&] { return servers_[0]->got == "still here"; });
  old->transport().Close();
}

TEST_F(TlsTransportTest, AClientHearsWhyItTrustsNobody) {
  BeginClient("other.example");
  RunUntil([&] { return !failure_.empty(); });
  EXPECT_THAT(failure_, HasSubstr("hostname mismatch"));
  RunUntil([&] { return counters_.failed == 1; });
  EXPECT_TRUE(servers_.empty());
}

TEST_F(TlsTransportTest, WhoeverSpeaksPlainlyIsTurnedAway) {
  tcp::socket plain = ConnectPlain();
  boost::asio::write(plain, boost::asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
  RunUntil([&] { return counters_.failed == 1; });
  EXPECT_TRUE(servers_.empty());
  loop_.Poll();
  EXPECT_EQ(limit_.open(), 0U);
}

TEST_F(TlsTransportTest, AHandshakeThatIsNotDoneInTimeIsClosed) {
  Listen(std::chrono::milliseconds(5));
  tcp::socket silent = ConnectPlain();
  tcp::socket slow = ConnectPlain();
  boost::asio::write(slow, boost::asio::buffer("\x16\x03\x01", 3));  // A record's first bytes.
  RunUntil([&] { return counters_.timed_out == 2; });
  loop_.Poll();
  EXPECT_EQ(limit_.open(), 0U);
}

TEST_F(TlsTransportTest, AClosedListenerEndsHandshakesUnderWay) {
  tcp::socket silent = ConnectPlain();
  RunUntil([&] { return limit_.open() == 1; });
  listener_->Close();
  RunUntil([&] { return limit_.open() == 0; });
  EXPECT_EQ(counters_.failed, 0U);
}

TEST_F(TlsTransportTest, AUserLivesUntilItsReadHasEndedAndNoLonger) {
  Connect();
  client_->Read();
  const std::weak_ptr<End> server = servers_[0];
  servers_.clear();  // Its read is under way and keeps it.
  EXPECT_FALSE(server.expired());
  client_->transport().Close();
  RunUntil([&] { return server.expired(); });
}

}  // namespace
}  // namespace sluice::net
