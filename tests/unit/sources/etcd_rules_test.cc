#include "sources/etcd_rules.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "net/event_loop.h"
#include "wire/base64.h"

namespace sluice::sources {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
using State = EtcdRules::State;

// Answers as a test says, on the loop of who asks. What a real etcd does is the matter of
// tests/e2e/admin/etcd_test.py; this one goes wrong at will.
class ScriptedEtcd {
 public:
  // Gives the JSON for a path and a body; "" leaves the question unanswered.
  using Answer = std::function<std::string(const std::string& path, const std::string& body)>;

  ScriptedEtcd(net::EventLoop& loop, Answer answer)
      : acceptor_(loop.context(), tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)),
        answer_(std::move(answer)) {
    Accept();
  }

  [[nodiscard]] net::DialTarget target() const {
    return {.host = "127.0.0.1", .port = std::to_string(acceptor_.local_endpoint().port())};
  }
  // Sends a piece of the newest watch.
  void Send(const std::string& piece) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", piece.size());
    boost::asio::write(watches_.back()->socket, boost::asio::buffer(size + piece + "\r\n"));
  }
  [[nodiscard]] std::size_t watches() const { return watches_.size(); }

 private:
  struct Client {
    explicit Client(tcp::socket taken) : socket(std::move(taken)) {}
    tcp::socket socket;
    boost::asio::streambuf in;
  };

  void Accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (!error) {
        Read(std::make_shared<Client>(std::move(socket)));
        Accept();
      }
    });
  }

  void Read(const std::shared_ptr<Client>& client) {
    boost::asio::async_read_until(
        client->socket, client->in, "\r\n\r\n",
        [this, client](const error_code& error, std::size_t header_size) {
          if (error) {
            return;
          }
          std::string header(header_size, ' ');
          client->in.sgetn(header.data(), static_cast<std::streamsize>(header_size));
          const std::size_t length =
              std::stoul(header.substr(header.find("Content-Length: ") + 16));
          const std::size_t missing = length - std::min(length, client->in.size());
          error_code ignored;
          boost::asio::read(client->socket, client->in.prepare(missing), ignored);
          client->in.commit(missing);
          std::string body(length, ' ');
          client->in.sgetn(body.data(), static_cast<std::streamsize>(length));
          Reply(client, header.substr(5, header.find(' ', 5) - 5), body);
        });
  }

  void Reply(const std::shared_ptr<Client>& client, const std::string& path,
             const std::string& body) {
    const bool watch = path == "/v3/watch";
    const std::string text = answer_(path, body);
    std::string reply;
    if (watch) {
      watches_.push_back(client);
      reply = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    } else if (text.empty()) {
      silent_.push_back(client);
      return;
    } else {
      reply =
          "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
    }
    boost::asio::write(client->socket, boost::asio::buffer(reply));
  }

  tcp::acceptor acceptor_;
  Answer answer_;
  std::vector<std::shared_ptr<Client>> watches_;
  std::vector<std::shared_ptr<Client>> silent_;
};

std::string Header(int revision) {
  return R"("header":{"cluster_id":"1","revision":")" + std::to_string(revision) + "\"}";
}

std::string Item(const std::string& id, const std::string& text, int mod) {
  return R"({"key":")" + wire::ToBase64("/r/" + id) + R"(","value":")" + wire::ToBase64(text) +
         R"(","mod_revision":")" + std::to_string(mod) + "\"}";
}

std::string Holding(int revision, const std::string& items, int count) {
  return "{" + Header(revision) + R"(,"kvs":[)" + items + R"(],"count":")" + std::to_string(count) +
         "\"}";
}

std::string Event(int revision, const std::string& item) {
  return R"({"result":{)" + Header(revision) + R"(,"events":[{"kv":)" + item + "}]}}\n";
}

class EtcdRulesTest : public testing::Test {
 protected:
  EtcdSettings Settings(std::vector<net::DialTarget> endpoints) {
    return {.endpoints = std::move(endpoints),
            .prefix = "/r/",
            .timeout = std::chrono::milliseconds(500),
            .audit_interval = std::chrono::hours(1),
            .shortest_pause = std::chrono::milliseconds(1),
            .settle = std::chrono::milliseconds(1)};
  }

  std::unique_ptr<EtcdRules> Follow(EtcdSettings settings, EtcdSnapshot last = {}) {
    auto rules = std::make_unique<EtcdRules>(
        loop_, std::move(settings), std::move(last),
        EtcdRules::Events{.on_documents = [this] { ++changes_; },
                          .on_state = [this](State, std::string_view why) { why_ += why; }});
    rules->Start();
    return rules;
  }

  template <class Condition>
  void Until(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << why_;
      loop_.RunOne();
    }
  }

  static std::string TextOf(const EtcdRules& rules, const std::string& id) {
    const auto found = rules.documents().find(id);
    return found == rules.documents().end() ? "" : found->second.text;
  }

  net::EventLoop loop_;
  int changes_ = 0;
  int ranges_ = 0;
  std::string why_;
};

TEST_F(EtcdRulesTest, AMessageThatComesInPiecesIsOne) {
  ScriptedEtcd etcd(loop_, [](const std::string&, const std::string&) {
    return Holding(5, Item("a", "one", 4), 1);
  });
  const auto rules = Follow(Settings({etcd.target()}));
  Until([&] { return etcd.watches() == 1; });
  EXPECT_EQ(TextOf(*rules, "a"), "one");
  const std::string both = Event(6, Item("a", "two", 6)) + Event(7, Item("b", "new", 7));
  etcd.Send(both.substr(0, 40));
  etcd.Send(both.substr(40, both.size() - 50));
  etcd.Send(both.substr(both.size() - 10));
  Until([&] { return TextOf(*rules, "b") == "new"; });
  EXPECT_EQ(TextOf(*rules, "a"), "two");
  EXPECT_EQ(rules->snapshot().revision, 7);
}

TEST_F(EtcdRulesTest, ReadsAllAgainWhereTheWatchIsCompacted) {
  ScriptedEtcd etcd(loop_, [&](const std::string& path, const std::string&) {
    if (path == "/v3/kv/range") {
      ++ranges_;
    }
    return ranges_ == 1 ? Holding(5, Item("a", "one", 4), 1) : Holding(99, Item("b", "two", 90), 1);
  });
  const auto rules = Follow(Settings({etcd.target()}));
  Until([&] { return etcd.watches() == 1; });
  etcd.Send(R"({"result":{)" + Header(60) +
            R"(,"canceled":true,"compact_revision":"50"}})"
            "\n");
  Until([&] { return etcd.watches() == 2; });
  EXPECT_EQ(rules->documents().size(), 1U);
  EXPECT_EQ(TextOf(*rules, "b"), "two");
  EXPECT_NE(why_.find("compacted"), std::string::npos);
}

TEST_F(EtcdRulesTest, AnAuditFindsWhatADeadWatchHasMissed) {
  ScriptedEtcd etcd(loop_, [&](const std::string& path, const std::string& body) {
    const bool audit = body.find("DESCEND") != std::string::npos;
    ranges_ += path == "/v3/kv/range" && !audit ? 1 : 0;
    return ranges_ == 1 && !audit ? Holding(5, Item("a", "one", 4), 1)
                                  : Holding(9, Item("a", audit ? "" : "two", 9), 1);
  });
  auto settings = Settings({etcd.target()});
  settings.audit_interval = std::chrono::milliseconds(20);
  const auto rules = Follow(std::move(settings));
  Until([&] { return TextOf(*rules, "a") == "two"; });
  EXPECT_NE(why_.find("missed"), std::string::npos);
  const int seen = ranges_;
  for (int i = 0; i < 5; ++i) {  // Audits that find nothing begin nothing anew.
    const std::size_t watches = etcd.watches();
    loop_.RunOne();
    EXPECT_EQ(etcd.watches(), watches);
  }
  EXPECT_EQ(ranges_, seen);
}

TEST_F(EtcdRulesTest, TakesTheNextEndpointWhereOneIsAwayOrSilent) {
  ScriptedEtcd silent(loop_, [](const std::string&, const std::string&) { return ""; });
  ScriptedEtcd etcd(loop_, [](const std::string&, const std::string&) {
    return Holding(5, Item("a", "one", 4), 1);
  });
  const net::DialTarget nobody{.host = "127.0.0.1", .port = "1"};
  const auto rules = Follow(Settings({nobody, silent.target(), etcd.target()}));
  Until([&] { return rules->state() == State::kFollowing; });
  EXPECT_EQ(TextOf(*rules, "a"), "one");
}

TEST_F(EtcdRulesTest, WhatWasReadLastStandsWhereAllIsLost) {
  ScriptedEtcd etcd(loop_,
                    [](const std::string&, const std::string&) { return "{" + Header(1) + "}"; });
  EtcdSnapshot last{.cluster = "1", .revision = 50, .documents = {}};
  last.documents["a"] = {.text = "one", .mod_revision = 40};
  const auto rules = Follow(Settings({etcd.target()}), last);
  Until([&] { return rules->answered(); });
  EXPECT_EQ(rules->state(), State::kLost);
  EXPECT_EQ(TextOf(*rules, "a"), "one");
  Until([&] { return etcd.watches() == 1; });
  etcd.Send(Event(2, Item("b", "new", 2)));
  Until([&] { return changes_ == 1; });
  EXPECT_EQ(rules->state(), State::kFollowing);
  EXPECT_EQ(rules->documents().size(), 1U);
  EXPECT_EQ(TextOf(*rules, "b"), "new");
}

TEST_F(EtcdRulesTest, ThatAllIsGoneByIntentionIsFollowed) {
  ScriptedEtcd etcd(loop_,
                    [](const std::string&, const std::string&) { return "{" + Header(60) + "}"; });
  EtcdSnapshot last{.cluster = "1", .revision = 50, .documents = {}};
  last.documents["a"] = {.text = "one", .mod_revision = 40};
  const auto rules = Follow(Settings({etcd.target()}), last);
  Until([&] { return rules->answered(); });
  EXPECT_TRUE(rules->documents().empty());
}

TEST_F(EtcdRulesTest, AWriteSaysWhetherItWasDone) {
  using Kind = EtcdRules::WriteFailure::Kind;
  std::string txn = "{" + Header(6) + R"(,"succeeded":true})";
  ScriptedEtcd etcd(loop_, [&](const std::string& path, const std::string&) {
    return path == "/v3/kv/txn" ? txn : Holding(5, Item("a", "one", 4), 1);
  });
  const auto rules = Follow(Settings({etcd.target()}));
  Until([&] { return etcd.watches() == 1; });
  const auto put = [&](const std::string& text) {
    tl::expected<void, EtcdRules::WriteFailure> result;
    bool done = false;
    rules->Put("a", text, [&](const auto& written) {
      done = true;
      result = written;
    });
    Until([&] { return done; });
    return result;
  };
  const int before = changes_;
  EXPECT_TRUE(put("two").has_value());
  EXPECT_EQ(changes_, before + 1);
  EXPECT_EQ(TextOf(*rules, "a"), "two");
  etcd.Send(Event(6, Item("a", "two", 6)));  // Its own, back from the watch.
  txn = "{" + Header(7) + "}";
  EXPECT_EQ(put("three").error().kind, Kind::kChanged);
  txn = "";
  EXPECT_EQ(put("three").error().kind, Kind::kUnknown);
  EXPECT_EQ(TextOf(*rules, "a"), "two");
}

}  // namespace
}  // namespace sluice::sources
