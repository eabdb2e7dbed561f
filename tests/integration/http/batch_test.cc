#include <string>

#include "frontend/http/handlers.h"
#include "integration/http/table_front_end_fixture.h"

namespace sluice::frontend::http {
namespace {

class BatchTest : public TableFrontEndFixture {
 protected:
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: api, key_pattern: "user:{user_id}", algorithm: fixed_window, limit: 2, window: 1h}
  - {id: jobs, match: {kind: job}, key_pattern: "user:{user_id}", algorithm: concurrency, limit: 1,
     hold_ttl: 1m}
)");
  }

  static std::string ArrayOf(std::size_t count, const std::string& element) {
    std::string array = "[";
    for (std::size_t i = 0; i < count; ++i) {
      array += (i == 0 ? "" : ",") + element;
    }
    return array + "]";
  }
};

TEST_F(BatchTest, AnswersEachCheckForItselfAndInOrder) {
  const Reply reply = Post("batch", R"([{"user_id": "a"}, {"user_id": "b"}, {"user_id": "a"},
      {"user_id": "a"}, {"user_id": "b", "cost": 0}, {"user_id": "c", "peek": true}])");
  ASSERT_EQ(reply.status, 200) << reply.text;
  const auto& answers = reply.body.as_array();
  ASSERT_EQ(answers.size(), 6U);
  const int remaining[] = {1, 1, 0, 0, 1, 2};
  const int status[] = {200, 200, 200, 429, 200, 200};
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(answers[i].at("remaining").as_int64(), remaining[i]) << i;
    EXPECT_EQ(answers[i].at("status").as_int64(), status[i]) << i;
    EXPECT_EQ(answers[i].at("allowed").as_bool(), status[i] == 200) << i;
  }
}

TEST_F(BatchTest, WhatIsWrongSpoilsNoOther) {
  const Reply reply = Post("batch", R"([{"user_id": "a", "cost": -1}, 7, {"user_id": "a"}, {},
      {"user_id": "a", "x": [1, "]"]}, {"user_id": "a"}])");
  ASSERT_EQ(reply.status, 200) << reply.text;
  const auto& answers = reply.body.as_array();
  ASSERT_EQ(answers.size(), 6U);
  EXPECT_EQ(answers[0].at("status").as_int64(), 400);
  EXPECT_EQ(answers[0].at("code").as_string(), "invalid_cost");
  EXPECT_EQ(answers[1].at("code").as_string(), "not_an_object");
  EXPECT_EQ(answers[2].at("remaining").as_int64(), 1);
  EXPECT_EQ(answers[3].at("status").as_int64(), 200);
  EXPECT_EQ(answers[4].at("code").as_string(), "nested_value");
  EXPECT_EQ(answers[5].at("remaining").as_int64(), 0);
}

TEST_F(BatchTest, TakesAThousandAndNoMore) {
  const Reply most = Post("batch", ArrayOf(kMostChecksInBatch, R"({"user_id": "a", "cost": 0})"));
  ASSERT_EQ(most.status, 200);
  EXPECT_EQ(most.body.as_array().size(), kMostChecksInBatch);
  const Reply more = Post("batch", ArrayOf(kMostChecksInBatch + 1, R"({"user_id": "a"})"));
  EXPECT_EQ(more.status, 400);
  EXPECT_EQ(more.Text("code"), "too_many_members");
  EXPECT_EQ(Check(R"({"user_id": "a", "peek": true})").Number("remaining"), 2);
  const Reply none = Post("batch", " [ ] ");
  EXPECT_EQ(none.text, "[]");
}

TEST_F(BatchTest, RefusesWhatIsNoArray) {
  for (const char* body :
       {"", "{}", "[", "[{}", "[{},]", "[,{}]", "[{}] x", R"(["])", "[}]", R"([{"a": "\")"}) {
    EXPECT_EQ(Post("batch", body).status, 400) << body;
  }
  EXPECT_EQ(Send("GET", "/v1/ratelimit/batch", "").status, 405);
}

TEST_F(BatchTest, OnlyABatchMayBeLong) {
  const std::string blanks(100'000, ' ');
  EXPECT_EQ(Post("batch", R"([{"user_id": "a"})" + blanks + "]").status, 200);
  EXPECT_EQ(Check(R"({"user_id": "a")" + blanks + "}").status, 413);
  EXPECT_EQ(Post("batch", std::string(300'000, ' ')).status, 413);
}

TEST_F(BatchTest, GivesHolds) {
  const Reply reply =
      Post("batch", R"([{"user_id": "a", "kind": "job"}, {"user_id": "a", "kind": "job"}])");
  const auto& answers = reply.body.as_array();
  EXPECT_EQ(answers[1].at("status").as_int64(), 429);
  const auto& hold = answers[0].at("holds").as_array().at(0).as_object();
  EXPECT_EQ(hold.at("name").as_string(), "jobs");
  EXPECT_EQ(Post("release", boost::json::serialize(hold)).text, R"({"released":1})");
}

}  // namespace
}  // namespace sluice::frontend::http
