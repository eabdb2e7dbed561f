#include "net/listener.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "net/event_loop.h"
#include "support/temporary_folder.h"

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;
using Local = boost::asio::local::stream_protocol;

// Sends back what it gets until the stream ends.
class Echo : public TransportUser, public std::enable_shared_from_this<Echo> {
 public:
  explicit Echo(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  void Start() { transport_->Read(buffer_, shared_from_this()); }
  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override {
    last_error = error;
    if (!error) {
      transport_->Write({buffer_.data(), size}, shared_from_this());
    }
  }
  void OnWritten(const boost::system::error_code& error) noexcept override {
    last_error = error;
    if (!error) {
      Start();
    }
  }
  Transport& transport() { return *transport_; }

  boost::system::error_code last_error;

 private:
  std::unique_ptr<Transport> transport_;
  std::array<char, 64> buffer_{};
};

struct Server {
  explicit Server(std::size_t most = 10) : limit(most) {
    auto opened = Listener::Open(loop, *ParseAddress("127.0.0.1:0"), limit,
                                 [this](std::unique_ptr<Transport> transport) {
                                   echoes.push_back(std::make_shared<Echo>(std::move(transport)));
                                   echoes.back()->Start();
                                 });
    EXPECT_TRUE(opened);
    listener = std::move(*opened);
  }

  tcp::socket Connect() {
    tcp::socket socket(client);
    socket.connect(listener->endpoint());
    return socket;
  }

  // Runs the loop until `done`; a test that waits for ever is stopped by ctest.
  template <class Condition>
  void RunUntil(Condition done) {
    while (!done()) {
      loop.RunOne();
    }
  }

  ConnectionLimit limit;
  EventLoop loop;
  boost::asio::io_context client;
  std::vector<std::shared_ptr<Echo>> echoes;
  std::unique_ptr<Listener> listener;
};

TEST(ListenerTest, TellsThePortItBound) {
  Server server;
  EXPECT_NE(server.listener->endpoint().port(), 0);
  EXPECT_EQ(server.listener->endpoint().address().to_string(), "127.0.0.1");
}

TEST(ListenerTest, CarriesBytesBothWaysAndSeesTheEnd) {
  Server server;
  tcp::socket client = server.Connect();
  server.RunUntil([&] { return !server.echoes.empty(); });
  EXPECT_EQ(server.echoes[0]->transport().peer_address(), "127.0.0.1");
  boost::asio::write(client, boost::asio::buffer("hello", 5));
  std::string got;
  client.non_blocking(true);
  std::array<char, 16> buffer{};
  server.RunUntil([&] {
    boost::system::error_code error;
    const std::size_t size = client.read_some(boost::asio::buffer(buffer), error);
    got.append(buffer.data(), size);
    return got == "hello";
  });
  client.shutdown(tcp::socket::shutdown_send);
  server.RunUntil([&] { return server.echoes[0]->last_error == boost::asio::error::eof; });
}

TEST(ListenerTest, CloseEndsAReadUnderWayWithAnError) {
  Server server;
  tcp::socket client = server.Connect();
  server.RunUntil([&] { return !server.echoes.empty(); });
  server.echoes[0]->transport().Close();
  server.echoes[0]->transport().Close();
  server.RunUntil(
      [&] { return server.echoes[0]->last_error == boost::asio::error::operation_aborted; });
}

TEST(ListenerTest, AUserOutlivesItsOwnerUntilItsReadHasEnded) {
  Server server;
  tcp::socket client = server.Connect();
  server.RunUntil([&] { return !server.echoes.empty(); });
  const std::weak_ptr<Echo> echo = server.echoes[0];
  server.echoes[0]->transport().Close();
  server.echoes.clear();
  EXPECT_FALSE(echo.expired());
  server.RunUntil([&] { return echo.expired(); });
  EXPECT_EQ(server.limit.open(), 0U);
}

TEST(ListenerTest, ClosesConnectionsAboveTheLimitAndTakesPlacesBack) {
  Server server(1);
  tcp::socket first = server.Connect();
  tcp::socket second = server.Connect();
  server.RunUntil([&] { return server.limit.refused() == 1; });
  EXPECT_EQ(server.echoes.size(), 1U);
  char byte;
  boost::system::error_code error;
  second.read_some(boost::asio::buffer(&byte, 1), error);
  EXPECT_TRUE(error);
  server.echoes[0]->transport().Close();
  server.echoes.clear();
  server.RunUntil([&] { return server.limit.open() == 0; });
  tcp::socket third = server.Connect();
  server.RunUntil([&] { return server.limit.open() == 1; });
}

// No descriptor may be opened while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;  // The open ones stay.
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(ListenerTest, OutlivesALackOfDescriptorsWithoutSpinning) {
  Server server;
  tcp::socket before = server.Connect();
  before.non_blocking(true);
  const auto talk = [&] {
    boost::asio::write(before, boost::asio::buffer("hello", 5));
    std::array<char, 16> buffer{};
    server.RunUntil([&] {
      boost::system::error_code error;
      return before.read_some(boost::asio::buffer(buffer), error) == 5;
    });
  };
  talk();  // Sanitizers want a descriptor to look at a class for the first time.
  tcp::socket waiting = server.Connect();  // In the kernel's queue, from where accept() takes it.
  {
    const NoDescriptors none;
    constexpr auto kLong = std::chrono::milliseconds(350);  // Some pauses of the listener.
    const auto end = std::chrono::steady_clock::now() + kLong;
    int turns = 0;
    while (std::chrono::steady_clock::now() < end) {
      server.loop.RunOne();
      ++turns;
    }
    EXPECT_LT(turns, 200);
    EXPECT_EQ(server.echoes.size(), 1U);
    talk();  // Who is in is served meanwhile.
  }
  server.RunUntil([&] { return server.echoes.size() == 2; });
}

TEST(ConnectionLimitTest, OnePeerDoesNotTakeAllPlaces) {
  using boost::asio::ip::make_address;
  ConnectionLimit limit(4, 2);
  const auto peer = make_address("192.0.2.1");
  auto first = limit.Take(peer);
  const auto second = limit.Take(make_address("::ffff:192.0.2.1"));  // The same host.
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(limit.Take(peer));
  EXPECT_EQ(limit.refused_of_peers(), 1U);
  const auto other = limit.Take(make_address("192.0.2.2"));
  EXPECT_TRUE(other);
  first.reset();
  const auto again = limit.Take(peer);
  EXPECT_TRUE(again);
  EXPECT_EQ(limit.open(), 3U);
  EXPECT_EQ(limit.refused(), 0U);
}

TEST(ConnectionLimitTest, AnIpv6CustomerIsItsNetwork) {
  using boost::asio::ip::make_address;
  ConnectionLimit limit(10, 1);
  const auto held = limit.Take(make_address("2001:db8:1:2::1"));
  EXPECT_TRUE(held);
  EXPECT_FALSE(limit.Take(make_address("2001:db8:1:2:ffff::9")));
  EXPECT_TRUE(limit.Take(make_address("2001:db8:1:3::1")));
  EXPECT_TRUE(limit.Take(make_address("0.0.0.1")));
}

TEST(ListenerTest, SeveralLoopsMayShareAnAddress) {
  Server server;
  EventLoop other;
  const auto opened = Listener::Open(other, server.listener->endpoint(), server.limit, [](auto) {});
  EXPECT_TRUE(opened);
}

TEST(ListenerTest, AnAddressIsFreeUntilAnybodyListensThere) {
  Server server;
  const tcp::endpoint address = server.listener->endpoint();
  const auto taken = EnsureFree(address);  // Though opening it to share would succeed.
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message,
              testing::HasSubstr("cannot listen on " + AddressText(address)));
  server.listener->Close();
  EXPECT_TRUE(EnsureFree(address));
  EXPECT_TRUE(EnsureFree(*ParseAddress("127.0.0.1:0")));
}

TEST(ListenerTest, SaysWhyItCannotListen) {
  EventLoop loop;
  ConnectionLimit limit(1);
  // 192.0.2.0/24 is nobody's address (RFC 5737).
  const auto opened = Listener::Open(loop, *ParseAddress("192.0.2.1:0"), limit, [](auto) {});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("cannot listen on 192.0.2.1:0"));
}

class UnixListenerTest : public testing::Test {
 protected:
  // Of `loop`; counts who comes.
  std::unique_ptr<Listener> Open(EventLoop& loop, const UnixSocket& socket) {
    auto opened = Listener::Open(loop, socket, limit_, [this](std::unique_ptr<Transport> came) {
      peers_.emplace_back(came->peer_address());
    });
    EXPECT_TRUE(opened);
    return *std::move(opened);
  }

  Local::socket Connect() {
    Local::socket client(clients_);
    client.connect(Local::endpoint(path_.string()));
    return client;
  }

  const support::TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "socket";
  ConnectionLimit limit_{10};
  boost::asio::io_context clients_;
  std::vector<std::string> peers_;
};

TEST_F(UnixListenerTest, EachLoopTakesConnectionsAndTheFileGoesInTheEnd) {
  auto socket = *UnixSocket::Bind(path_);
  EventLoop one;
  EventLoop other;
  const auto first = Open(one, *socket);
  const auto second = Open(other, *socket);
  const auto client = Connect();
  while (peers_.empty()) {
    one.RunOne();
  }
  first->Close();
  const auto late = Connect();
  while (peers_.size() < 2) {
    other.RunOne();
  }
  EXPECT_THAT(peers_, testing::Each("unix"));
  socket.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixListenerTest, ASocketWithoutAListenerIsReplaced) {
  {
    boost::asio::io_context unused;
    const Local::acceptor left(unused, Local::endpoint(path_.string()));
  }
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_TRUE(UnixSocket::Bind(path_));
}

TEST_F(UnixListenerTest, SaysWhyItCannotListen) {
  const auto fault = [](const std::string& path) {
    const auto bound = UnixSocket::Bind(path);
    return bound ? std::string() : bound.error().message;
  };
  const auto socket = *UnixSocket::Bind(path_);
  EXPECT_THAT(fault(path_), testing::HasSubstr("another process uses it"));
  EXPECT_TRUE(std::filesystem::exists(path_));
  const std::string file = path_.string() + ".txt";
  std::ofstream(file) << "text";
  EXPECT_THAT(fault(file), testing::HasSubstr("not a socket"));
  EXPECT_THAT(fault(path_.string() + "/below"), testing::HasSubstr("cannot listen on unix:"));
  EXPECT_THAT(fault("/" + std::string(200, 'x')), testing::HasSubstr("1 to 107 bytes"));
  EXPECT_THAT(fault(""), testing::HasSubstr("1 to 107 bytes"));
}

TEST(AddressTest, ReadsWhatItWrites) {
  for (const char* text : {"127.0.0.1:8080", "[::1]:0", "[::]:65535", "0.0.0.0:1"}) {
    const auto address = ParseAddress(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(AddressText(*address), text);
  }
  EXPECT_EQ(AddressText(*ParseAddress(":80")), "[::]:80");
  EXPECT_EQ(AddressText(*ParseAddress("*:80")), "[::]:80");
  EXPECT_EQ(AddressText(*ParseAddress("localhost:80")), "127.0.0.1:80");
}

TEST(AddressTest, RefusesEverythingElse) {
  for (const char* text :
       {"", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
        "::1:80", "[127.0.0.1]:80", "example.org:80", "[::1:80", "256.0.0.1:80"}) {
    EXPECT_FALSE(ParseAddress(text)) << text;
  }
}

}  // namespace
}  // namespace sluice::net
