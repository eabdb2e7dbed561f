#include <chrono>
#include <string>

#include "integration/http/table_front_end_fixture.h"

namespace sluice::frontend::http {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class SettleTest : public TableFrontEndFixture {
 protected:
  // Requests and tokens per minute in one call: the first counts calls, the second what they cost.
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: requests, key_pattern: "user:{user_id}", algorithm: sliding_window, limit: 5, window: 1m,
     cost: 1}
  - {id: tokens, key_pattern: "user:{user_id}", algorithm: token_bucket, rate: 1000, window: 1m,
     reservation_ttl: 2m}
  - {id: seats, match: {seat: "yes"}, key_pattern: "user:{user_id}", algorithm: concurrency,
     limit: 3, hold_ttl: 1m, cost: 1}
)");
  }

  std::string Left() {
    const Reply reply = Send("GET", "/v1/ratelimit/status/a", "");
    std::string left;
    for (const auto& limit : reply.object().at("limits").as_array()) {
      left += (left.empty() ? "" : " ") + std::to_string(limit.at("remaining").as_int64());
    }
    return left;
  }
  Reply Reserve(int cost) {
    return Check(R"({"user_id": "a", "reserve": true, "cost": )" + std::to_string(cost) + "}");
  }
  Reply Settle(const Reply& reserved, int cost) {
    return Post("settle", R"({"reservation": ")" + reserved.Text("reservation") + R"(", "cost": )" +
                              std::to_string(cost) + "}");
  }
};

TEST_F(SettleTest, GivesBackWhatWasNotSpentAndAgainSaysTheSame) {
  const Reply reserved = Reserve(500);
  ASSERT_EQ(reserved.status, 200);
  EXPECT_EQ(Left(), "4 500");
  const Reply settled = Settle(reserved, 312);
  EXPECT_EQ(settled.status, 200) << settled.text;
  EXPECT_EQ(settled.text, R"({"settled":[{"name":"requests","charged":1,"cost":1},)"
                          R"({"name":"tokens","charged":500,"cost":312}]})");
  EXPECT_EQ(Left(), "4 688");
  EXPECT_EQ(Settle(reserved, 312).text, settled.text);
  EXPECT_EQ(Settle(reserved, 0).text, settled.text);
  EXPECT_EQ(Left(), "4 688");
}

TEST_F(SettleTest, TakesMoreThanThereIsAndTheDebtComesFirst) {
  const Reply reserved = Reserve(500);
  EXPECT_EQ(Settle(reserved, 2'500).status, 200);
  EXPECT_EQ(Left(), "4 0");
  const Reply denied = Check(R"({"user_id": "a", "cost": 1})");
  EXPECT_EQ(denied.status, 429);
  EXPECT_EQ(denied.Number("retry_after_ms"), 90'060);
  clock_.Advance(std::chrono::milliseconds(90'060) - Duration(1));
  EXPECT_EQ(Check(R"({"user_id": "a", "cost": 1})").status, 429);
  clock_.Advance(Duration(1));
  EXPECT_EQ(Check(R"({"user_id": "a", "cost": 1})").status, 200);
}

TEST_F(SettleTest, WhatIsNotSettledStandsAtItsEstimate) {
  const Reply reserved = Reserve(500);
  clock_.Advance(minutes(2));
  const Reply late = Settle(reserved, 0);
  EXPECT_EQ(late.status, 200);
  EXPECT_NE(late.text.find(R"("name":"tokens","charged":500,"cost":500)"), std::string::npos)
      << late.text;
  EXPECT_EQ(Left(), "5 1000");  // Two minutes have refilled it anyway.
}

TEST_F(SettleTest, ADenialReservesNothingAndNorDoesAPeek) {
  EXPECT_EQ(Reserve(1'001).Text("reservation"), "");
  EXPECT_EQ(Check(R"({"user_id": "a", "reserve": true, "peek": true})").Text("reservation"), "");
  EXPECT_EQ(Left(), "5 1000");
}

// Failed logins only: each attempt is charged before it is tried, and a success is taken back.
TEST_F(SettleTest, AReceiptGivesBackTheWholeRequestOnce) {
  const Reply first = Check(R"({"user_id": "a", "receipt": true, "cost": 400, "seat": "yes"})");
  ASSERT_EQ(first.status, 200) << first.text;
  EXPECT_EQ(Check(R"({"user_id": "a", "cost": 100})").status, 200);
  const std::string body = R"({"receipt": ")" + first.Text("receipt") + "\"}";
  const Reply refunded = Post("refund", body);
  EXPECT_EQ(refunded.text,
            R"({"refunded":[{"name":"requests","units":1},{"name":"tokens","units":400}]})");
  EXPECT_EQ(Left(), "4 900");
  EXPECT_EQ(Post("refund", body).text, refunded.text);
  EXPECT_EQ(Left(), "4 900");
}

TEST_F(SettleTest, AReceiptComesTooLateAfterTheWindow) {
  const Reply first = Check(R"({"user_id": "a", "receipt": true, "cost": 400})");
  clock_.Advance(seconds(68));  // The window and a segment: none of it counts any more.
  EXPECT_EQ(Check(R"({"user_id": "a", "cost": 100})").status, 200);
  const Reply late = Post("refund", R"({"receipt": ")" + first.Text("receipt") + "\"}");
  EXPECT_EQ(late.text,
            R"({"refunded":[{"name":"requests","units":0},{"name":"tokens","units":0}]})");
  EXPECT_EQ(Left(), "4 900");
}

TEST_F(SettleTest, AnAttributeThatIsTheCostIsSettledByItsOwnName) {
  Load(R"(
rules:
  - {id: in, key_pattern: "u:{user_id}", algorithm: gcra, rate: 1000, window: 1m, cost: tokens_in}
  - {id: out, key_pattern: "u:{user_id}", algorithm: gcra, rate: 1000, window: 1m, cost: tokens_out}
)");
  const Reply reserved =
      Check(R"({"user_id": "a", "tokens_in": 100, "tokens_out": 500, "reserve": true})");
  const Reply settled = Post("settle", R"({"reservation": ")" + reserved.Text("reservation") +
                                           R"(", "tokens_in": 120, "tokens_out": 80})");
  EXPECT_EQ(settled.text, R"({"settled":[{"name":"in","charged":100,"cost":120},)"
                          R"({"name":"out","charged":500,"cost":80}]})");
}

// What was given out before a change of the shape is of keys that are no more.
TEST_F(SettleTest, AReceiptOfAnotherShapeIsOfNoChargeHere) {
  Load("rules: [{id: r, key_pattern: '{user_id}', algorithm: fixed_window, limit: 9, window: 1h}]");
  const std::string receipt = Check(R"({"user_id": "a", "receipt": true})").Text("receipt");
  for (const char* changed : {"algorithm: sliding_window_log, limit: 9, window: 1h",
                              "algorithm: fixed_window, limit: 9, window: 2h",
                              "algorithm: fixed_window, limit: 9, window: day"}) {
    Load("rules: [{id: r, key_pattern: '{user_id}', " + std::string(changed) + "}]");
    EXPECT_EQ(Check(R"({"user_id": "a"})").status, 200);
    EXPECT_EQ(Post("refund", R"({"receipt": ")" + receipt + "\"}").Text("code"), "no_such_charge");
    EXPECT_EQ(Left(), "8") << changed;
  }
  Load("rules: [{id: r, key_pattern: '{user_id}', algorithm: fixed_window, limit: 4, window: 1h}]");
  EXPECT_EQ(Post("refund", R"({"receipt": ")" + receipt + "\"}").text,
            R"({"refunded":[{"name":"r","units":1}]})");
}

TEST_F(SettleTest, RefusesWhatNoAnswerGave) {
  const Reply reserved = Reserve(5);
  const std::string token = reserved.Text("reservation");
  EXPECT_EQ(Post("settle", R"({"reservation": "x", "cost": 1})").Text("code"),
            "invalid_reservation");
  EXPECT_EQ(Post("settle", R"({"cost": 1})").Text("code"), "invalid_reservation");
  EXPECT_EQ(Post("settle", R"({"reservation": ")" + token + "\"}").Text("code"), "invalid_body");
  EXPECT_EQ(Post("settle", R"({"reservation": ")" + token + R"(", "cost": -1})").Text("code"),
            "invalid_cost");
  EXPECT_EQ(Post("refund", R"({"receipt": ")" + token + "\"}").Text("code"), "invalid_receipt");
  std::string other = token;
  other[other.size() - 30] = other[other.size() - 30] == 'A' ? 'B' : 'A';
  const Reply forged = Post("settle", R"({"reservation": ")" + other + R"(", "cost": 0})");
  EXPECT_EQ(forged.status, 404);
  EXPECT_EQ(forged.Text("code"), "no_such_charge");
  EXPECT_EQ(Left(), "4 995");
}

}  // namespace
}  // namespace sluice::frontend::http
