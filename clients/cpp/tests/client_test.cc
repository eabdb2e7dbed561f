// The client against a real daemon, and against servers that do what no daemon does.
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "daemon.h"
#include "fake_clock.h"
#include "sluice_client.h"

namespace sluice_client {
namespace {

// Each test uses users of its own.
Attributes UserAt(const char* endpoint) {
  return {{"user_id", ::testing::UnitTest::GetInstance()->current_test_info()->name()},
          {"endpoint", endpoint}};
}

class ClientTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { daemon_ = new Daemon; }
  static void TearDownTestSuite() { delete daemon_; }

  static ClientOptions Options() {
    ClientOptions options;
    options.url = daemon_->url();
    options.timeout = Milliseconds(20'000);  // Far above what any machine needs.
    return options;
  }

  static Daemon* daemon_;
  Client client_{Options()};
};
Daemon* ClientTest::daemon_ = nullptr;

TEST_F(ClientTest, AllowsThenDenies) {
  for (int left = 2; left >= 0; --left) {
    const Decision decision = client_.Check(UserAt("/api"));
    EXPECT_TRUE(decision);
    EXPECT_EQ(decision.remaining, left);
    EXPECT_EQ(decision.Why(), "allowed by api");
  }
  const Decision denied = client_.Check(UserAt("/api"));
  EXPECT_FALSE(denied);
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.reason, "quota_exceeded");
  ASSERT_TRUE(denied.retry_after.has_value());
  EXPECT_GT(denied.retry_after->count(), 1'000'000);
  EXPECT_LE(denied.retry_after->count(), 1'200'000);
  std::set<std::string> names;
  for (const auto& [name, value] : denied.headers) {
    names.insert(detail::Lower(name));
  }
  EXPECT_EQ(names.count("retry-after"), 1U);
  EXPECT_EQ(denied.Why().find("denied by api: quota_exceeded; again in "), 0U) << denied.Why();
}

TEST_F(ClientTest, NoRuleApplies) {
  EXPECT_EQ(client_.Check({{"endpoint", "/other"}}).Why(), "allowed: no rule applies");
}

TEST_F(ClientTest, AttributesOfEveryType) {
  const Decision decision = client_.Check(
      {{"user_id", "\"\\\n\x01é"}, {"endpoint", "/api"}, {"n", 3}, {"x", 0.5}, {"b", true}});
  EXPECT_EQ(decision.Why(), "allowed by api");
}

TEST_F(ClientTest, PeekAndStatusChargeNothing) {
  CheckOptions peek;
  peek.peek = true;
  EXPECT_TRUE(client_.Check(UserAt("/api"), peek));
  EXPECT_EQ(client_.Status(UserAt("/api"), 3).remaining, 3);
  EXPECT_FALSE(client_.Status(UserAt("/api"), 4));
}

TEST_F(ClientTest, ReceiptIsRefundedOnce) {
  CheckOptions options;
  options.cost = 2;
  options.receipt = true;
  const Decision decision = client_.Check(UserAt("/api"), options);
  ASSERT_FALSE(decision.receipt.empty());
  const auto refunded = client_.Refund(decision.receipt);
  ASSERT_EQ(refunded.size(), 1U);
  EXPECT_EQ(refunded[0], std::pair(std::string("api"), std::int64_t{2}));
  EXPECT_EQ(client_.Status(UserAt("/api")).remaining, 3);
}

TEST_F(ClientTest, AnIdempotencyKeyIsChargedOnce) {
  CheckOptions options;
  options.idempotency_key = "cpp-client-test";
  EXPECT_EQ(client_.Check(UserAt("/api"), options).remaining, 2);
  EXPECT_EQ(client_.Check(UserAt("/api"), options).remaining, 2);
  EXPECT_EQ(client_.Status(UserAt("/api")).remaining, 2);
}

TEST_F(ClientTest, ReservationIsSettled) {
  Reservation reservation = client_.Reserve(UserAt("/llm"), 500);
  EXPECT_EQ(client_.Status(UserAt("/llm")).remaining, 500);
  const std::vector<Settled> settled = reservation.Settle(120);
  ASSERT_EQ(settled.size(), 1U);
  EXPECT_EQ(settled[0].charged, 500);
  EXPECT_EQ(settled[0].cost, 120);
  EXPECT_TRUE(reservation.Settle(1).empty());
  EXPECT_EQ(client_.Status(UserAt("/llm")).remaining, 880);
  EXPECT_THROW((void)client_.Reserve(UserAt("/never"), 1), Denied);
}

TEST_F(ClientTest, HoldIsReleasedAtTheEndOfTheScope) {
  const Attributes job = {{"tenant", "t_1"}, {"endpoint", "/jobs"}};
  {
    const HeldSlots held = client_.Hold(job);
    EXPECT_EQ(held.decision.holds.size(), 1U);
    EXPECT_THROW((void)client_.Hold(job), Denied);
    EXPECT_FALSE(held.IsLost());
  }
  EXPECT_TRUE(client_.Status(job));
}

TEST_F(ClientTest, HoldIsRenewedAndKnowsWhenItIsLost) {
  const Attributes job = {{"tenant", "t_2"}, {"endpoint", "/jobs"}};
  const HeldSlots held = client_.Hold(job, {}, Milliseconds(1));
  while (held.renewals() == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(client_.Release(held.decision.holds), 1);
  while (!held.IsLost()) {
    std::this_thread::yield();
  }
}

TEST_F(ClientTest, Batch) {
  const auto decisions =
      client_.CheckMany({{UserAt("/api")}, {UserAt("/api"), 3}, {UserAt("/never")}});
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_TRUE(decisions[0]);
  EXPECT_FALSE(decisions[1]);
  EXPECT_EQ(decisions[2].status, 429);
  EXPECT_TRUE(client_.CheckMany({}).empty());
  EXPECT_THROW((void)client_.CheckMany({{UserAt("/api"), -1}}), CallError);
}

TEST_F(ClientTest, WrongCallsThrow) {
  CheckOptions options;
  options.cost = -1;
  try {
    (void)client_.Check(UserAt("/api"), options);
    FAIL() << "no error";
  } catch (const CallError& error) {
    EXPECT_EQ(error.status, 400);
    EXPECT_FALSE(error.code.empty());
  }
  EXPECT_THROW((void)client_.Refund("nonsense"), CallError);
  for (const char* url :
       {"https://127.0.0.1", "127.0.0.1:8080", "http://", "http://host:port", "http://a b"}) {
    ClientOptions wrong;
    wrong.url = url;
    EXPECT_THROW(Client{wrong}, std::invalid_argument) << url;
  }
}

TEST_F(ClientTest, AcquireWaitsAsLongAsTheDaemonSays) {
  FakeClock clock;  // The daemon's clock goes on, so the second attempt may come too early for it.
  ClientOptions options = Options();
  options.clock = &clock;
  options.policy.max_attempts = 1'000'000;
  Client client(options);
  ASSERT_TRUE(client.Check(UserAt("/quick")));
  EXPECT_TRUE(client.Acquire(UserAt("/quick")));
  for (const std::int64_t slept : clock.slept) {
    EXPECT_LE(slept, 50);
  }
}

TEST_F(ClientTest, AcquireGivesUpAtTheDeadline) {
  FakeClock clock;
  ClientOptions options = Options();
  options.clock = &clock;
  options.policy.cap = Milliseconds(10'000'000);
  Client client(options);
  CheckOptions all;
  all.cost = 3;
  ASSERT_TRUE(client.Check(UserAt("/api"), all));
  EXPECT_THROW((void)client.Acquire(UserAt("/api"), {}, Milliseconds(60'000)), Denied);
  EXPECT_TRUE(clock.slept.empty());
}

TEST_F(ClientTest, ManyThreadsShareOneClient) {
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, user = UserAt("/api")] {
      for (int k = 0; k < 20; ++k) {
        allowed += client_.Check(user) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(allowed.load(), 3);
}

// --- A daemon that does not answer ---------------------------------------------------------------

ClientOptions OptionsOf(const OneAnswerServer& server, bool fail_open) {
  ClientOptions options;
  options.url = server.url();
  options.timeout = Milliseconds(50);
  options.fail_open = fail_open;
  return options;
}

TEST(Unavailable, TheFailModeDecides) {
  const OneAnswerServer silent("-");
  Client open(OptionsOf(silent, true));
  const Decision allowed = open.Check(UserAt("/api"));
  EXPECT_TRUE(allowed);
  EXPECT_TRUE(allowed.degraded);
  EXPECT_EQ(allowed.Why(), "allowed without Sluice: timed out");
  Client closed(OptionsOf(silent, false));
  const Decision denied = closed.Check(UserAt("/api"));
  EXPECT_FALSE(denied);
  EXPECT_EQ(denied.status, 503);
  EXPECT_EQ(denied.reason, "sluice_unavailable");
  EXPECT_THROW((void)closed.Status(UserAt("/api")), sluice_client::Unavailable);
}

TEST(Unavailable, TheBreakerOpensAndTriesAgain) {
  FakeClock clock;
  const OneAnswerServer silent("-");
  ClientOptions options = OptionsOf(silent, true);
  options.clock = &clock;
  options.retries = 0;
  options.breaker_failures = 2;
  Client client(options);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(client.Check(UserAt("/api")).unavailable, "timed out");
  }
  EXPECT_TRUE(client.BreakerIsOpen());
  EXPECT_EQ(client.Check(UserAt("/api")).unavailable, "Sluice did not answer lately");
  clock.Sleep(Milliseconds(1000));
  EXPECT_EQ(client.Check(UserAt("/api")).unavailable, "timed out");
  EXPECT_EQ(client.Check(UserAt("/api")).unavailable, "Sluice did not answer lately");
}

TEST(Unavailable, WhatIsNotSluice) {
  for (const char* answer :
       {"", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 20",
        "HTTP/1.1\r\n\r\n"}) {
    const OneAnswerServer server(answer);
    ClientOptions options = OptionsOf(server, true);
    options.timeout = Milliseconds(20'000);
    Client client(options);
    EXPECT_TRUE(client.Check(UserAt("/api")).degraded) << answer;
  }
}

TEST(Unavailable, ChunksAndBodiesWithoutALengthAreRead) {
  for (const char* answer : {"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                             "chunked\r\n\r\n4\r\n{\"al\r\n11;x=y\r\nlowed\": true, \"li\r\nc\r\n"
                             "mits\": []}  \r\n0\r\n\r\n",
                             "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{\"allowed\": "
                             "true, \"limits\": []}"}) {
    const OneAnswerServer server(answer);
    ClientOptions options = OptionsOf(server, false);
    options.timeout = Milliseconds(20'000);
    Client client(options);
    EXPECT_EQ(client.Check(UserAt("/api")).Why(), "allowed: no rule applies") << answer;
  }
}

TEST(Unavailable, ACheckIsSentAgainWithItsKey) {
  const OneAnswerServer server("");  // Closes each connection.
  ClientOptions options = OptionsOf(server, true);
  options.timeout = Milliseconds(20'000);
  options.retries = 2;
  Client client(options);
  EXPECT_TRUE(client.Check(UserAt("/api")).degraded);
  EXPECT_EQ(server.count(), 3);
}

}  // namespace
}  // namespace sluice_client

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (std::getenv("SLUICE") == nullptr) {
    std::puts("skipped: set SLUICE to the daemon's binary");
    return 77;
  }
  return RUN_ALL_TESTS();
}
