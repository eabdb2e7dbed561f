#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "frontend/resp/front_end.h"
#include "integration/http/fake_transport.h"
#include "net/event_loop.h"
#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "signing/keyring.h"
#include "store/table.h"
#include "support/late_store.h"
#include "support/manual_clock.h"
#include "wire/resp_reply_parser.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

// A reply for people: (1, [a, nil], ERR ...).
inline std::string Shown(std::span<const wire::RespNode>& rest) {
  const wire::RespNode node = rest.front();
  rest = rest.subspan(1);
  switch (node.type) {
    case wire::RespType::kNull:
      return "nil";
    case wire::RespType::kInteger:
      return std::to_string(node.integer);
    case wire::RespType::kTruth:
      return node.integer != 0 ? "true" : "false";
    case wire::RespType::kArray:
    case wire::RespType::kMap: {
      const bool map = node.type == wire::RespType::kMap;
      std::string text(1, map ? '{' : '[');
      for (std::size_t i = 0; i < node.size; ++i) {
        text += i == 0 ? "" : " ";
        text += Shown(rest);
      }
      return text += map ? '}' : ']';
    }
    default:
      return std::string(node.text);
  }
}

// A front end over a table on a clock of the test's, and clients that it plays.
class FrontEndFixture : public testing::Test {
 protected:
  static constexpr std::string_view kRules = R"(
rules:
  - id: api
    match: {user_id: "*"}
    key_pattern: "user:{user_id}"
    algorithm: token_bucket
    rate: 10
    window: 10s
  - id: daily
    match: {user_id: "*"}
    key_pattern: "user:{user_id}"
    algorithm: fixed_window
    limit: 1000
    window: 1d
  - id: jobs
    match: {job: "*"}
    key_pattern: "job:{job}"
    algorithm: concurrency
    limit: 2
    hold_ttl: 1m
  - id: tokens
    match: {model: "*"}
    key_pattern: "model:{model}"
    algorithm: gcra
    rate: 100
    window: 1m
    cost: tokens
)";

  // `late`: the store answers when LateStore says so.
  void MakeFrontEnd(FrontEndSettings settings = {}, bool late = false,
                    store::TableOptions options = {}) {
    rules::Findings findings;
    const rules::SourceText source{.name = "rules.yaml", .text = std::string(kRules)};
    auto set = rules::RuleSet::Build({&source, 1}, nullptr, findings);
    ASSERT_NE(set, nullptr) << findings.errors.front().Text();
    options.keys = 1000;
    auto table = store::Table::Create(options, clock_);
    ASSERT_TRUE(table) << table.error().Text();
    table_ = *std::move(table);
    late_ = std::make_unique<support::LateStore>(*table_, 7);
    store::KeyStore* store = table_.get();
    if (late) {
      store = late_.get();
    }
    service_ = std::make_unique<service::LimiterService>(*store, metrics_);
    service_->SetRules(std::move(set));
    settings.version = "1.2.3";
    keys_ = std::make_unique<signing::Keyring>(signing::Derive(table_->secret(), ""), clock_);
    settings.keys = keys_.get();
    front_end_ =
        std::make_unique<FrontEnd>(loop_, *service_, clock_, last_client_, std::move(settings));
  }

  std::unique_ptr<net::FakeClient> Connect(std::string peer = "127.0.0.1") {
    auto client = std::make_unique<net::FakeClient>(loop_, std::move(peer));
    front_end_->Accept(client->MakeTransport());
    Turn();
    return client;
  }

  // All that can happen without waiting.
  void Turn() {
    while (loop_.Poll() > 0) {
    }
  }
  // Lets timers run until `what` holds, or long has passed.
  template <class What>
  bool Until(What what) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!what() && std::chrono::steady_clock::now() < end) {
      loop_.RunOne();
    }
    return what();
  }

  // `line` as a client sends it: its words as bulk strings.
  static std::string Sent(std::string_view line) {
    std::vector<std::string_view> words;
    while (!line.empty()) {
      const std::size_t end = std::min(line.find(' '), line.size());
      words.push_back(line.substr(0, end));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    std::string bytes;
    wire::AppendRespCommand(words, bytes);
    return bytes;
  }

  // All that `client` received since the last time, a reply a text.
  static std::vector<std::string> Received(net::FakeClient& client) {
    wire::RespReplyParser parser;
    parser.Append(std::exchange(client.received(), {}));
    std::vector<std::string> replies;
    while (parser.Next() == wire::RespReplyParser::Event::kReply) {
      std::span<const wire::RespNode> rest = parser.reply();
      replies.push_back(Shown(rest));
    }
    EXPECT_EQ(parser.error(), "");
    return replies;
  }

  // One command and its reply.
  std::string Ask(net::FakeClient& client, std::string_view line) {
    client.Send(Sent(line));
    Turn();
    const std::vector<std::string> replies = Received(client);
    EXPECT_EQ(replies.size(), 1U) << line;
    return replies.empty() ? "" : replies.front();
  }

  net::EventLoop loop_;
  support::ManualClock clock_;
  std::atomic<std::uint64_t> last_client_{0};
  service::ServiceMetrics metrics_;
  std::unique_ptr<store::Table> table_;
  std::unique_ptr<support::LateStore> late_;
  std::unique_ptr<service::LimiterService> service_;
  std::unique_ptr<signing::Keyring> keys_;
  std::unique_ptr<FrontEnd> front_end_;
};

}  // namespace sluice::frontend::resp
