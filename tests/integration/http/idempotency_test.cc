#include <memory>
#include <string>
#include <utility>

#include "idempotency/answer_memory.h"
#include "integration/http/front_end_fixture.h"
#include "integration/http/table_front_end_fixture.h"

namespace sluice::frontend::http {
namespace {

using std::chrono::hours;

std::string Key(const std::string& key) {
  return "Idempotency-Key: " + key + "\r\n";
}

class IdempotencyTest : public TableFrontEndFixture {
 protected:
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: api, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 2, window: 30d}
  - {id: jobs, match: {kind: job}, key_pattern: "user:{user_id}", algorithm: concurrency, limit: 5,
     hold_ttl: 50h}
)");
    Remember(memory_);
  }
  void ConnectFrom(const std::string& address) {
    client_ = std::make_unique<net::FakeClient>(loop_, address);
    front_end_->Accept(client_->MakeTransport());
  }
  void Remember(idempotency::AnswerMemory& memory) {
    FrontEndSettings settings;
    settings.memory = &memory;
    OpenFrontEnd(settings);
  }
  static std::string WithoutDate(std::string head) {
    const std::size_t at = head.find("\r\nDate: ");
    return head.erase(at, head.find("\r\n", at + 2) - at);
  }
  std::int64_t Left() { return Check(R"({"user_id": "a", "peek": true})").Number("remaining"); }

  idempotency::AnswerMemory memory_{{.bytes = 1U << 20U, .keep = hours(24)}};
};

TEST_F(IdempotencyTest, TheFirstAllowedAnswerComesAgainByteForByte) {
  const std::string body = R"({"user_id": "a", "kind": "job", "reserve": true, "receipt": true})";
  const Reply first = Check(body, Key("k1"));
  ASSERT_EQ(first.status, 200);
  EXPECT_TRUE(first.object().contains("holds"));
  EXPECT_EQ(Left(), 1);
  clock_.Advance(hours(23));
  for (const std::string& fields : {Key("k1"), std::string("X-Idempotency-Key: k1\r\n")}) {
    const Reply again = Check(body, fields);
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(again.text, first.text);
    std::string head = WithoutDate(again.head);
    const std::string said = "\r\nIdempotent-Replayed: true";
    const std::size_t at = head.find(said);
    ASSERT_NE(at, std::string::npos) << head;
    EXPECT_EQ(head.erase(at, said.size()), WithoutDate(first.head));
  }
  EXPECT_EQ(Left(), 1);
  clock_.Advance(hours(1));
  EXPECT_NE(Check(body, Key("k1")).text, first.text);
  EXPECT_EQ(Left(), 0);
}

TEST_F(IdempotencyTest, AnotherBodyWithTheKeyIsRefused) {
  EXPECT_EQ(Check(R"({"user_id": "a"})", Key("k")).status, 200);
  const Reply other = Check(R"({"user_id": "a", "cost": 1})", Key("k"));
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(other.Text("code"), "key_reused");
  EXPECT_EQ(Left(), 1);
}

TEST_F(IdempotencyTest, ADenialIsJudgedAnew) {
  EXPECT_EQ(Check(R"({"user_id": "a", "cost": 2})").status, 200);
  EXPECT_EQ(Check(R"({"user_id": "a"})", Key("k")).status, 429);
  EXPECT_EQ(Check(R"({"user_id": "a", "cost": 0})", Key("k")).status, 200);  // Of another body too.
  clock_.Advance(hours(24 * 30));
  EXPECT_EQ(Check(R"({"user_id": "a"})", Key("k2")).status, 200);
  EXPECT_EQ(Left(), 1);
  EXPECT_EQ(Check(R"({"user_id": "a", "peek": true})", Key("k3")).status, 200);
  EXPECT_EQ(Check(R"({"user_id": "a"})", Key("k3")).status, 200);  // A peek takes no key.
}

TEST_F(IdempotencyTest, AKeyIsItsCallersAlone) {
  const std::string body = R"({"user_id": "a"})";
  const std::string credential = "Authorization: Bearer x\r\n";
  EXPECT_EQ(Check(body, Key("k")).Number("remaining"), 1);
  EXPECT_EQ(Check(R"({"user_id": "b"})", Key("k") + credential).Number("remaining"), 1);
  ConnectFrom("198.51.100.9");
  EXPECT_EQ(Check(body, Key("k")).Number("remaining"), 0);
  EXPECT_EQ(Check(body, Key("k")).Number("remaining"), 0);
}

// A retry that leaves another pod, or comes through another proxy, is the same caller's.
TEST_F(IdempotencyTest, ACredentialMeansTheSameCallerFromAnyAddress) {
  const std::string body = R"({"user_id": "a"})";
  const std::string fields = Key("k") + "Authorization: Bearer x\r\n";
  EXPECT_EQ(Check(body, fields).Number("remaining"), 1);
  ConnectFrom("198.51.100.9");
  EXPECT_EQ(Check(body, fields).Number("remaining"), 1);
  EXPECT_EQ(Left(), 1);
  EXPECT_EQ(Check(body, Key("k") + "Authorization: Bearer y\r\n").Number("remaining"), 0);
}

TEST_F(IdempotencyTest, AnAttributeSaysWhoseAKeyIs) {
  idempotency::AnswerMemory memory(
      {.bytes = 1U << 20U, .keep = hours(24), .caller_attribute = "user_id"});
  Remember(memory);
  const std::string body = R"({"user_id": "a", "pod": "1"})";
  EXPECT_EQ(Check(body, Key("k") + "Authorization: Bearer x\r\n").Number("remaining"), 1);
  ConnectFrom("198.51.100.9");
  EXPECT_EQ(Check(body, Key("k") + "Authorization: Bearer y\r\n").Number("remaining"), 1);
  EXPECT_EQ(Check(R"({"user_id": "b", "pod": "1"})", Key("k")).Number("remaining"), 1);
  // Without the attribute it is as if there were none.
  EXPECT_EQ(Check(R"({"pod": "1"})", Key("k")).status, 200);
  ConnectFrom("198.51.100.7");
  EXPECT_EQ(Check(R"({"pod": "2"})", Key("k")).status, 200);
  front_end_.reset();
}

TEST_F(IdempotencyTest, RefusesWhatIsNoKeyAndABatchWithOne) {
  const std::string body = R"({"user_id": "a"})";
  EXPECT_EQ(Check(body, "Idempotency-Key: \r\n").Text("code"), "invalid_key");
  EXPECT_EQ(Check(body, Key(std::string(257, 'k'))).Text("code"), "invalid_key");
  EXPECT_EQ(Check(body, Key("k") + "X-Idempotency-Key: other\r\n").Text("code"), "invalid_key");
  EXPECT_EQ(Post("batch", "[" + body + "]", Key("k")).Text("code"), "unsupported");
  EXPECT_EQ(Left(), 2);
}

// The store answers late: copies that come meanwhile wait for the first.
class LateIdempotencyTest : public FrontEndFixture {
 protected:
  void SetUp() override {
    FrontEndSettings settings;
    settings.memory = &memory_;
    MakeFrontEnd(settings);
  }
  void TearDown() override { front_end_.reset(); }

  idempotency::AnswerMemory memory_{{.bytes = 1U << 20U, .keep = hours(24)}};
};

TEST_F(LateIdempotencyTest, TwoCopiesThatArriveTogetherSpendOnce) {
  const auto one = Connect();
  const auto two = Connect();
  const std::string request = Check(R"({"user_id": "u", "cost": 7})", Key("k"));
  one->Send(request);
  two->Send(request + request);
  Turn();
  EXPECT_EQ(store_.pending.size(), 1U);
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(store_.charged, 7);
  EXPECT_EQ(CostsIn(one->received()), (std::vector<int>{7}));
  EXPECT_EQ(CostsIn(two->received()), (std::vector<int>{7, 7}));
}

TEST_F(LateIdempotencyTest, WhoseClientHasGoneIsRememberedAllTheSame) {
  const auto gone = Connect();
  const std::string request = Check(R"({"user_id": "u", "cost": 7})", Key("k"));
  gone->Send(request);
  Turn();
  gone->Vanish();
  Turn();
  const auto back = Connect();
  back->Send(request);
  Turn();
  EXPECT_EQ(store_.pending.size(), 1U);
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(store_.charged, 7);
  EXPECT_EQ(CostsIn(back->received()), (std::vector<int>{7}));
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

// Another node's side, and the store that is shared with it: answers as the test says.
struct OtherNode final : store::AnswerRecords {
  void Claim(store::RecordCall& call) override {
    ++claims;
    call.error = error;
    call.found = found;
    call.answer = answer;
    call.OnAnswered();
  }
  void Keep(store::RecordCall& call) override {
    kept = call.answer;
    call.OnAnswered();
  }
  void Drop(store::RecordCall& call) override {
    ++drops;
    call.OnAnswered();
  }

  store::StoreError error = store::StoreError::kNone;
  store::RecordCall::Found found = store::RecordCall::Found::kOurs;
  std::string answer;
  std::string kept;
  int claims = 0;
  int drops = 0;
};

class SharedIdempotencyTest : public FrontEndFixture {
 protected:
  using Found = store::RecordCall::Found;

  void SetUp() override {
    FrontEndSettings settings;
    settings.memory = &memory_;
    MakeFrontEnd(settings);
  }
  void TearDown() override { front_end_.reset(); }

  OtherNode other_;
  idempotency::AnswerMemory memory_{{.bytes = 1U << 20U, .keep = hours(24), .shared = &other_}};
  const std::string request_ = Check(R"({"user_id": "u", "cost": 7})", Key("k"));
};

TEST_F(SharedIdempotencyTest, WhatIsClaimedIsAskedAndKeptForAll) {
  const auto client = Connect();
  client->Send(request_);
  Turn();
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(CostsIn(client->received()), (std::vector<int>{7}));
  EXPECT_NE(other_.kept.find(R"({"allowed": true, "remaining": 7)"), std::string::npos);
  client->Send(request_);  // This node knows by itself.
  Turn();
  EXPECT_EQ(other_.claims, 1);
  EXPECT_EQ(store_.charged, 7);
}

TEST_F(SharedIdempotencyTest, WhatAnotherNodeAnsweredIsAnsweredHereAndOtherBodiesAreRefused) {
  other_.found = Found::kAnswered;
  other_.answer = "7:X: yz\r\n{\"allowed\": true, \"remaining\": 3}";
  const auto client = Connect();
  client->Send(request_);
  Turn();
  EXPECT_EQ(CostsIn(client->received()), (std::vector<int>{3}));
  EXPECT_NE(client->received().find("\r\nX: yz\r\n"), std::string::npos);
  other_.found = Found::kOther;
  client->Send(request_);
  Turn();
  EXPECT_EQ(StatusesIn(client->received()), (std::vector<int>{200, 422}));
  EXPECT_TRUE(store_.pending.empty());
  EXPECT_EQ(other_.drops, 0);
}

TEST_F(SharedIdempotencyTest, WhileAnotherNodeDecidesItWaits) {
  other_.found = Found::kPending;
  const auto client = Connect();
  const auto gone = Connect();
  client->Send(request_);
  Turn();
  gone->Send(Check(R"({"user_id": "v", "cost": 7})", Key("other")));
  Turn();
  gone->Vanish();
  while (other_.claims < 6) {
    loop_.RunOne();
  }
  EXPECT_EQ(client->received(), "");
  other_.found = Found::kAnswered;
  other_.answer = "0:{\"allowed\": true, \"remaining\": 3}";
  while (client->received().empty() || front_end_->exchanges_in_use() > 0) {
    loop_.RunOne();
  }
  EXPECT_EQ(CostsIn(client->received()), (std::vector<int>{3}));
  EXPECT_EQ(store_.charged, 0);
}

TEST_F(SharedIdempotencyTest, WithoutTheOthersItDecidesAlone) {
  other_.error = store::StoreError::kUnavailable;
  const auto client = Connect();
  client->Send(request_ + request_);
  Turn();
  EXPECT_EQ(store_.pending.size(), 1U);
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(CostsIn(client->received()), (std::vector<int>{7, 7}));
  EXPECT_EQ(store_.charged, 7);
}

TEST_F(SharedIdempotencyTest, APeekGivesItsClaimUp) {
  const auto client = Connect();
  client->Send(Check(R"({"user_id": "u", "peek": true})", Key("k")));
  Turn();
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(StatusesIn(client->received()), (std::vector<int>{200}));
  EXPECT_EQ(other_.drops, 1);
  EXPECT_EQ(other_.kept, "");
}

TEST_F(LateIdempotencyTest, AWaitingCopyThatLeavesIsNoTrouble) {
  const auto one = Connect();
  const auto gone = Connect();
  const std::string request = Check(R"({"user_id": "u", "cost": 7})", Key("k"));
  one->Send(request);
  gone->Send(request);
  Turn();
  gone->Vanish();
  Turn();
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(store_.charged, 7);
  EXPECT_EQ(CostsIn(one->received()), (std::vector<int>{7}));
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

}  // namespace
}  // namespace sluice::frontend::http
