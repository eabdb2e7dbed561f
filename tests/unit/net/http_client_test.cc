#include "net/http_client.h"

#include <string>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::net {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;
using testing::StartsWith;

// Answers one connection with `answer`, whatever it asks, and keeps what it asked.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer)
      : acceptor_(context_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
        url_{.host = "127.0.0.1",
             .port = std::to_string(acceptor_.local_endpoint().port()),
             .prefix = {}},
        thread_([this, answer = std::move(answer)] {
          tcp::socket socket = acceptor_.accept();
          boost::system::error_code ignored;
          boost::asio::read_until(socket, boost::asio::dynamic_buffer(asked_), "\r\n\r\n", ignored);
          boost::asio::write(socket, boost::asio::buffer(answer), ignored);
        }) {}
  ~OneAnswer() { Asked(); }

  const HttpUrl& url() const { return url_; }
  const std::string& Asked() {
    if (thread_.joinable()) {
      thread_.join();
    }
    return asked_;
  }

 private:
  boost::asio::io_context context_;
  tcp::acceptor acceptor_;
  HttpUrl url_;
  std::string asked_;
  std::thread thread_;
};

TEST(HttpClientTest, BringsBackAnAnswerOfAnyStatus) {
  OneAnswer server(
      "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}");
  const auto answer = CallHttp(server.url(), {.method = "POST",
                                              .target = "/check",
                                              .content_type = "application/json",
                                              .body = "{\"a\":1}"});
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->body, "{}");
  EXPECT_THAT(server.Asked(), StartsWith("POST /check HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_THAT(server.Asked(), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(server.Asked(), HasSubstr("Content-Length: 7\r\n"));
}

TEST(HttpClientTest, ReadsAnAnswerInPiecesAndOneThatEndsWithTheConnection) {
  OneAnswer chunked(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n");
  EXPECT_EQ(CallHttp(chunked.url(), {})->body, "abc");
  EXPECT_THAT(chunked.Asked(), StartsWith("GET / HTTP/1.1\r\n"));
  OneAnswer closed("HTTP/1.1 200 OK\r\n\r\nabc");
  EXPECT_EQ(CallHttp(closed.url(), {})->body, "abc");
}

TEST(HttpClientTest, RefusesAnAnswerThatIsTooLong) {
  constexpr std::size_t kMost = 8 << 20;
  const auto of = [](std::size_t size) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n" +
           std::string(size, 'x');
  };
  OneAnswer longest(of(kMost));
  EXPECT_EQ(CallHttp(longest.url(), {})->body.size(), kMost);
  OneAnswer longer(of(kMost + 1));
  const auto answer = CallHttp(longer.url(), {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("is longer than 8 MiB"));
}

TEST(HttpClientTest, SaysWhenAnAnswerBreaksOff) {
  OneAnswer server("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc");
  const auto answer = CallHttp(server.url(), {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("it broke off"));
}

TEST(HttpClientTest, SaysWhenThereIsNoHttp) {
  OneAnswer server("SSH-2.0-OpenSSH\r\n");
  const auto answer = CallHttp(server.url(), {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, StartsWith("cannot read the answer of 127.0.0.1:"));
}

TEST(HttpClientTest, SaysWhenNobodyListens) {
  boost::asio::io_context context;
  tcp::acceptor bound(context);
  bound.open(tcp::v4());
  bound.bind(tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));  // Never listens.
  const HttpUrl url{
      .host = "127.0.0.1", .port = std::to_string(bound.local_endpoint().port()), .prefix = {}};
  const auto answer = CallHttp(url, {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("Connection refused"));
}

TEST(HttpClientTest, WaitsNoLongerThanItMay) {
  boost::asio::io_context context;
  tcp::acceptor silent(context, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const HttpUrl url{
      .host = "127.0.0.1", .port = std::to_string(silent.local_endpoint().port()), .prefix = {}};
  const auto answer = CallHttp(url, {.timeout = std::chrono::milliseconds(20)});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("no answer within 20 ms"));
}

TEST(HttpClientTest, ReadsUrls) {
  const auto told = [](std::string_view text) {
    const auto url = ParseHttpUrl(text);
    return url ? url->host + "|" + url->port + "|" + url->prefix : "error";
  };
  EXPECT_EQ(told("http://127.0.0.1:8080"), "127.0.0.1|8080|");
  EXPECT_EQ(told("http://example.org/a/b/"), "example.org|80|/a/b");
  EXPECT_EQ(told("localhost:1"), "localhost|1|");
  EXPECT_EQ(told("http://[::1]:8080/"), "::1|8080|");
  EXPECT_EQ(told("http://[::1]"), "::1|80|");
  for (const char* bad :
       {"", "http://", "https://a", "http://a:", "http://a:0", "http://a:x", "http://a:70000",
        "http://[::1", "http://[::1]8", "http://u@a", "a b", "http://a?b", "http://:80"}) {
    EXPECT_EQ(told(bad), "error") << bad;
  }
}

}  // namespace
}  // namespace sluice::net
