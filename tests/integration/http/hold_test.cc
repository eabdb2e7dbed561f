#include <chrono>
#include <string>
#include <vector>

#include "integration/http/table_front_end_fixture.h"

namespace sluice::frontend::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class HoldTest : public TableFrontEndFixture {
 protected:
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: jobs, key_pattern: "tenant:{tenant}:{ip}", algorithm: concurrency, limit: 2, hold_ttl: 30s}
)");
  }

  // The body of a release: a check's hold, as its answer has it.
  static std::string HoldOf(const Reply& reply) {
    return boost::json::serialize(reply.object().at("holds").as_array().at(0));
  }
};

constexpr const char* kJob = R"({"tenant": "t\"é", "ip": "192.0.2.1"})";

TEST_F(HoldTest, ReleasingFreesASlotOnce) {
  const Reply first = Check(kJob);
  EXPECT_EQ(Check(kJob).status, 200);
  const Reply full = Check(kJob);
  EXPECT_EQ(full.status, 429);
  EXPECT_TRUE(full.object().at("holds").as_array().empty());
  EXPECT_EQ(Post("release", HoldOf(first)).text, R"({"released":1})");
  EXPECT_EQ(Check(kJob).status, 200);
  EXPECT_EQ(Check(kJob).status, 429);
  const Reply again = Post("release", HoldOf(first));
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.text, R"({"released":0})");
  EXPECT_EQ(Check(kJob).status, 429);
}

// A client that asks and does not wait: a check does not see what is asked behind it.
TEST_F(HoldTest, APipelineIsCarriedOutInItsOrder) {
  const Reply first = Check(kJob);
  EXPECT_EQ(Check(kJob).status, 200);
  client_->received().clear();
  client_->Send(RequestText("POST", "/v1/ratelimit/check", kJob) +
                RequestText("POST", "/v1/ratelimit/release", HoldOf(first)) +
                RequestText("POST", "/v1/ratelimit/check", kJob));
  Turn();
  const std::string& received = client_->received();
  const std::size_t second = received.find("HTTP/1.1 ", 1);
  const std::size_t third = received.find("HTTP/1.1 ", second + 1);
  EXPECT_EQ(ReplyIn(received).status, 429);
  EXPECT_EQ(ReplyIn(received.substr(second, third - second)).text, R"({"released":1})");
  EXPECT_EQ(ReplyIn(received.substr(third)).status, 200);
}

TEST_F(HoldTest, ReleasesAllOfAList) {
  const std::string both =
      R"({"holds": [)" + HoldOf(Check(kJob)) + "," + HoldOf(Check(kJob)) + "]}";
  EXPECT_EQ(Post("release", both).text, R"({"released":2})");
  EXPECT_EQ(Check(R"({"tenant": "t\"é", "ip": "192.0.2.1", "cost": 2})").status, 200);
}

TEST_F(HoldTest, ALostHolderExpiresToTheNanosecond) {
  EXPECT_EQ(Check(kJob).status, 200);
  EXPECT_EQ(Check(kJob).status, 200);
  clock_.Advance(seconds(30) - Duration(1));
  EXPECT_EQ(Check(kJob).status, 429);
  clock_.Advance(Duration(1));
  EXPECT_EQ(Check(kJob).status, 200);
}

TEST_F(HoldTest, ARenewedHoldOutlivesTheOthersAndThenExpires) {
  const Reply kept = Check(kJob);
  EXPECT_EQ(Check(kJob).status, 200);
  for (int i = 0; i < 5; ++i) {
    clock_.Advance(seconds(20));
    EXPECT_EQ(Post("renew", HoldOf(kept)).text, R"({"renewed":1})");
  }
  EXPECT_EQ(Check(kJob).status, 200);  // The other's place.
  EXPECT_EQ(Check(kJob).status, 429);
  clock_.Advance(seconds(30));
  const Reply late = Post("renew", HoldOf(kept));
  EXPECT_EQ(late.status, 404);
  EXPECT_EQ(late.Text("code"), "no_such_hold");
  EXPECT_EQ(Check(R"({"tenant": "t\"é", "ip": "192.0.2.1", "cost": 2})").status, 200);
}

TEST_F(HoldTest, ARenameKeepsHolds) {
  const Reply held = Check(kJob);
  Load(R"(
rules:
  - {id: work, formerly: jobs, key_pattern: "tenant:{tenant}:{ip}", algorithm: concurrency,
     limit: 1, hold_ttl: 30s}
)");
  EXPECT_EQ(Check(kJob).status, 429);
  EXPECT_EQ(Post("renew", HoldOf(held)).text, R"({"renewed":1})");
  EXPECT_EQ(Post("release", HoldOf(held)).text, R"({"released":1})");
  EXPECT_EQ(Check(kJob).status, 200);
}

TEST_F(HoldTest, RefusesWhatNoAnswerGave) {
  const Reply held = Check(kJob);
  const std::string id(held.object().at("holds").as_array().at(0).at("id").as_string());
  for (const std::string& body : std::vector<std::string>{
           "", "{}", "[]", R"({"name": "jobs"})", R"({"id": "x"})", R"({"name": 1, "id": "x"})",
           R"({"name": "jobs", "id": "x"})", R"({"name": "jobs", "id": "x!"})",
           R"({"name": "jobs", "id": ")" + id.substr(1) + "\"}",
           R"({"name": "jobs", "id": ")" + id.substr(0, id.size() - 4) + "\"}",
           R"({"name": "jobs", "id": ")" + id + R"("} x)", R"({"holds": []})",
           R"({"holds": {}})"}) {
    EXPECT_EQ(Post("release", body).status, 400) << body;
  }
  EXPECT_EQ(Post("release", R"({"name": "other", "id": ")" + id + "\"}").text, R"({"released":0})");
  EXPECT_EQ(Post("release", HoldOf(held)).text, R"({"released":1})");
}

// A fleet's load shedder: the last fifth of the slots is for critical requests alone.
TEST_F(HoldTest, AFloodOfLowPriorityLeavesCriticalRequestsUntouched) {
  Load(R"(
rules:
  - {id: fleet, key_pattern: fleet, algorithm: concurrency, limit: 100, hold_ttl: 10s,
     reserve: {critical: 20%}}
)");
  int low_passed = 0;
  int critical_passed = 0;
  std::vector<std::string> low_holds;
  std::vector<std::string> critical_holds;
  for (int round = 0; round < 200; ++round) {
    clock_.Advance(milliseconds(1));
    for (int i = 0; i < 5; ++i) {  // The flood.
      const Reply low = Check(R"({"priority": "batch"})");
      if (low.status == 200) {
        ++low_passed;
        low_holds.push_back(HoldOf(low));
      } else {
        ASSERT_EQ(low.status, 503);
        ASSERT_EQ(low.Number("retry_after"), -1);
        ASSERT_NE(low.head.find("Retry-After: 1"), std::string::npos);
      }
    }
    if (round % 10 == 9 && !low_holds.empty()) {
      EXPECT_EQ(Post("release", low_holds.back()).text, R"({"released":1})");
      low_holds.pop_back();
    }
    const Reply critical = Check(R"({"priority": "critical"})");
    ASSERT_EQ(critical.status, 200) << round;
    ++critical_passed;
    critical_holds.push_back(HoldOf(critical));
    if (critical_holds.size() == 20) {  // As many at once as are reserved.
      for (const std::string& hold : critical_holds) {
        ASSERT_EQ(Post("release", hold).text, R"({"released":1})");
      }
      critical_holds.clear();
    }
  }
  EXPECT_EQ(critical_passed, 200);
  EXPECT_GE(low_passed, 80);
  EXPECT_LE(low_holds.size(), 80U);
}

}  // namespace
}  // namespace sluice::frontend::http
