#include <array>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/key_name.h"
#include "support/redis_store_fixture.h"
#include "support/store_calls.h"
#include "support/temporary_folder.h"
#include "support/test_certificates.h"

// TLS to all that a node talks to: primaries, Sentinels, every server of a cluster. None of them
// has a port without it.
namespace sluice::redis {
namespace {

using store::StoreError;
using support::FreePort;
using support::LoopedRedisStore;
using support::OwnedCheckCall;
using support::OwnedKey;
using support::RedisServer;
using support::WaitUntil;
using support::YearlyOf;

class RedisTlsTest : public ::testing::Test {
 protected:
  RedisTlsTest() {
    const support::TestAuthority::Signed own = authority_.Sign("127.0.0.1");
    std::ofstream(folder_ + "/ca.crt") << authority_.certificate();
    std::ofstream(folder_ + "/server.crt") << own.certificate;
    std::ofstream(folder_ + "/server.key") << own.key;
  }

  // On the command line of a server that has this port alone.
  [[nodiscard]] std::vector<std::string> OnPort(int port) const {
    return {"--port",
            "0",
            "--tls-port",
            std::to_string(port),
            "--bind",
            "127.0.0.1",
            "--tls-cert-file",
            folder_ + "/server.crt",
            "--tls-key-file",
            folder_ + "/server.key",
            "--tls-ca-cert-file",
            folder_ + "/ca.crt",
            "--tls-auth-clients",
            "no",
            "--tls-replication",
            "yes",
            "--repl-diskless-sync-delay",
            "0"};
  }
  // The same as lines of a file.
  [[nodiscard]] std::string LinesOnPort(int port) const {
    std::string lines;
    for (const std::string& word : OnPort(port)) {
      const bool name = word.starts_with("--");
      lines += name ? "\n" + word.substr(2) : " " + word;
    }
    return lines.substr(0, lines.find("\nrepl-diskless-sync-delay")) + "\n";
  }
  static net::DialTarget At(int port) {
    return {.host = "127.0.0.1", .port = std::to_string(port), .path = {}};
  }

  void Open(RedisSettings settings, const support::TestAuthority& trusted) {
    settings.channel.deadline = std::chrono::seconds(20);
    settings.opening.tls = [text = trusted.certificate()] {
      return net::TlsContext::Client({.ca = net::PemFile{.path = "ca.crt", .text = text}});
    };
    redis_ = std::make_unique<LoopedRedisStore>(settings, clock_);
  }

  store::CheckAnswer Ask(const OwnedKey& key) {
    OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = YearlyOf(100), .cost = {}});
    store::CheckCall* const one = &call;
    redis_->store().CheckMany({&one, 1});
    redis_->RunUntil([&] { return call.answers_got == 1; });
    if (call.error != StoreError::kNone) {
      redis_->RunOne();  // It may have been refused at once, by a client that waits.
    }
    error_ = call.error;
    return call.own_answers[0];
  }

  base::SystemClock clock_;
  support::TestAuthority authority_;
  support::TestAuthority stranger_{"Somebody else"};
  const support::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
  std::unique_ptr<LoopedRedisStore> redis_;
  StoreError error_ = StoreError::kNone;
};

TEST_F(RedisTlsTest, SentinelsAndThePrimaryThatTheyNameAreAskedBehindTls) {
  const int first_port = FreePort();
  const int second_port = FreePort();
  const int sentinel_port = FreePort();
  RedisServer first(OnPort(first_port));
  RedisServer second(OnPort(second_port));
  second.Run({"REPLICAOF", "127.0.0.1", std::to_string(first_port)});
  WaitUntil(
      [&] {
        return second.Run({"INFO", "replication"}).find("link_status:up") != std::string::npos;
      },
      "the replica is in step");
  const auto sentinel =
      RedisServer::Sentinel(sentinel_port, first_port, LinesOnPort(sentinel_port));
  const std::string replicas = "redis-cli --tls --cacert " + folder_ + "/ca.crt -h 127.0.0.1 -p " +
                               std::to_string(sentinel_port) + " sentinel replicas mymaster 2>&1";
  WaitUntil(
      [&] {
        // NOLINTNEXTLINE(concurrency-mt-unsafe): the test is one thread.
        return std::system((replicas + " | grep -q " + std::to_string(second_port)).c_str()) == 0;
      },
      "the Sentinel knows the replica");
  RedisSettings settings;
  settings.sentinel = {.sentinels = {At(sentinel_port)}, .primary = "mymaster"};

  Open(settings, stranger_);
  redis_->RunUntil([&] { return redis_->events().find("certificate") != std::string::npos; });
  EXPECT_FALSE(redis_->route().up());

  Open(settings, authority_);
  redis_->RunUntilUp();
  const OwnedKey key("u");
  EXPECT_EQ(Ask(key).decision.remaining, 99);
  WaitUntil([&] { return second.Run({"DBSIZE"}) == "1"; }, "the replica has the key");
  first.Kill();
  store::CheckAnswer answer = Ask(key);
  while (error_ != StoreError::kNone) {
    answer = Ask(key);
  }
  EXPECT_EQ(answer.decision.remaining, 98) << redis_->events();
  EXPECT_EQ(second.Run({"ROLE"}).substr(0, 6), "master");
}

TEST_F(RedisTlsTest, EveryServerOfAClusterIsAskedBehindTls) {
  struct Server {
    explicit Server(std::vector<std::string> options, int at)
        : port(at), redis(std::move(options)) {}
    int port;
    RedisServer redis;
  };
  std::vector<std::unique_ptr<Server>> servers;
  for (int i = 0; i < 2; ++i) {
    const int port = FreePort();
    const int bus = FreePort();
    std::vector<std::string> options = OnPort(port);
    for (const char* more :
         {"--tls-cluster", "yes", "--cluster-enabled", "yes", "--cluster-port"}) {
      options.emplace_back(more);
    }
    options.push_back(std::to_string(bus));
    servers.push_back(std::make_unique<Server>(options, port));
    servers.back()->redis.Run(
        {"CLUSTER", "ADDSLOTSRANGE", i == 0 ? "0" : "8192", i == 0 ? "8191" : "16383"});
    servers.back()->redis.Run({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    if (i == 1) {
      servers[0]->redis.Run(
          {"CLUSTER", "MEET", "127.0.0.1", std::to_string(port), std::to_string(bus)});
    }
  }
  for (const auto& server : servers) {
    WaitUntil(
        [&] {
          const std::string info = server->redis.Run({"CLUSTER", "INFO"});
          return info.find("cluster_state:ok") != std::string::npos &&
                 info.find("cluster_slots_ok:16384") != std::string::npos;
        },
        "the cluster is whole");
  }
  RedisSettings settings;
  settings.cluster = {At(servers[1]->port)};

  Open(settings, stranger_);
  redis_->RunUntil([&] { return redis_->events().find("certificate") != std::string::npos; });
  EXPECT_FALSE(redis_->route().up());

  Open(settings, authority_);
  redis_->RunUntilUp();
  for (int i = 0; i < 20; ++i) {
    const OwnedKey key("user" + std::to_string(i));
    EXPECT_EQ(Ask(key).decision.remaining, 99);
    EXPECT_EQ(error_, StoreError::kNone) << redis_->events();
  }
  for (const auto& server : servers) {
    EXPECT_GT(std::stoi(server->redis.Run({"DBSIZE"})), 2);
  }
}

}  // namespace
}  // namespace sluice::redis
