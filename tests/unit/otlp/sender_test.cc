#include "otlp/sender.h"

#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/event_loop.h"

namespace sluice::otlp {
namespace {

using boost::asio::ip::tcp;
using ::testing::HasSubstr;

// A collector, on the loop of the sender.
class SenderTest : public ::testing::Test {
 protected:
  SenderTest() {
    collector_.server = {.host = "127.0.0.1",
                         .port = std::to_string(acceptor_.local_endpoint().port())};
    collector_.gzip = false;
  }

  // Sends a message that gets this answer, and gives what came of it.
  Sent Ask(Sender& sender, const std::string& answer) {
    tcp::socket peer(loop_.context());
    boost::asio::streambuf input;
    acceptor_.async_accept(peer, [&](const boost::system::error_code& refused) {
      ASSERT_FALSE(refused);
      boost::asio::async_read_until(peer, input, "MESSAGE",
                                    [&](const boost::system::error_code& error, std::size_t) {
                                      ASSERT_FALSE(error);
                                      request_ = {boost::asio::buffers_begin(input.data()),
                                                  boost::asio::buffers_end(input.data())};
                                      boost::asio::write(peer, boost::asio::buffer(answer));
                                      peer.close();
                                    });
    });
    std::optional<Sent> result;
    sender.Send("MESSAGE", [&result](Sent sent) { result = sent; });
    while (!result) {
      (void)loop_.RunOne();
    }
    return *result;
  }

  static std::string Answer(const std::string& status, const std::string& body = "") {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  net::EventLoop loop_;
  tcp::acceptor acceptor_{loop_.context(),
                          tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
  Collector collector_;
  std::vector<std::string> events_;
  Sender::OnEvent on_event_ = [this](bool good, const std::string& text) {
    events_.push_back((good ? "good: " : "bad: ") + text);
  };
  std::string request_;
};

TEST_F(SenderTest, AMessageIsAPostWithTheFieldsOfTheConfiguration) {
  collector_.path = "/prefix";
  collector_.fields = [] {
    return std::vector<std::pair<std::string, std::string>>{{"Authorization", "Bearer t"}};
  };
  Sender sender(loop_, collector_, "/v1/metrics", on_event_);
  EXPECT_EQ(Ask(sender, Answer("200 OK")), Sent::kTaken);
  EXPECT_THAT(request_, testing::StartsWith("POST /prefix/v1/metrics HTTP/1.1\r\n"));
  EXPECT_THAT(request_, HasSubstr("Content-Type: application/x-protobuf\r\n"));
  EXPECT_THAT(request_, HasSubstr("Authorization: Bearer t\r\n"));
  EXPECT_TRUE(sender.ready(std::chrono::steady_clock::now()));
  EXPECT_EQ(sender.count(Sent::kTaken), 1U);
  EXPECT_TRUE(events_.empty());
}

TEST_F(SenderTest, RestsAfterFailuresAndSaysSoOnce) {
  Sender sender(loop_, collector_, "/v1/metrics", on_event_);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(Ask(sender, Answer("503 Busy", "later\x1b[31m")), Sent::kFailed);
  EXPECT_EQ(Ask(sender, Answer("429 Slow down")), Sent::kFailed);
  EXPECT_EQ(Ask(sender, "no HTTP"), Sent::kFailed);
  EXPECT_FALSE(sender.ready(begun + std::chrono::seconds(1))) << "two seconds at least by now";
  EXPECT_TRUE(sender.ready(std::chrono::steady_clock::now() + std::chrono::minutes(1)));
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(events_[0], HasSubstr("/v1/metrics: it answered 503: later\\x1b[31m."));
  EXPECT_EQ(Ask(sender, Answer("200 OK")), Sent::kTaken);
  EXPECT_TRUE(sender.ready(std::chrono::steady_clock::now()));
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_EQ(events_[1], "good: the collector takes /v1/metrics again");
  EXPECT_EQ(sender.count(Sent::kFailed), 3U);
}

TEST_F(SenderTest, WhatTheCollectorDoesNotWantIsNoReasonToRest) {
  Sender sender(loop_, collector_, "/v1/metrics", on_event_);
  EXPECT_EQ(Ask(sender, Answer("400 No")), Sent::kRejected);
  EXPECT_EQ(Ask(sender, Answer("200 OK", "\x0a\x08\x08\x03\x12\x04nope")), Sent::kRejected);
  EXPECT_TRUE(sender.ready(std::chrono::steady_clock::now()));
  EXPECT_EQ(sender.count(Sent::kRejected), 2U);
  EXPECT_EQ(events_.size(), 1U);
}

TEST_F(SenderTest, AFileThatCannotBeReadIsAFailure) {
  collector_.fields = []() -> Result<std::vector<std::pair<std::string, std::string>>> {
    return tl::unexpected(Error{.message = "no token"});
  };
  Sender sender(loop_, collector_, "/v1/metrics", on_event_);
  std::optional<Sent> result;
  sender.Send("MESSAGE", [&result](Sent sent) { result = sent; });
  EXPECT_TRUE(sender.busy());
  while (!result) {
    (void)loop_.RunOne();
  }
  EXPECT_EQ(result, Sent::kFailed);
  EXPECT_FALSE(sender.busy());
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_THAT(events_[0], HasSubstr("no token"));
}

TEST_F(SenderTest, NothingIsCalledBackOnceItIsGone) {
  {
    Sender sender(loop_, collector_, "/v1/metrics", on_event_);
    sender.Send("MESSAGE", [](Sent) { FAIL(); });
  }
  (void)loop_.Poll();
  EXPECT_TRUE(events_.empty());
}

}  // namespace
}  // namespace sluice::otlp
