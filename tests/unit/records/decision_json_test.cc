#include "records/decision_json.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/records/made_request.h"

namespace sluice::records {
namespace {

std::string JsonOf(MadeRequest& made, bool with_attributes = false) {
  const std::string bytes = made.Bytes(0, with_attributes);
  insight::KeptRequest kept;
  insight::DecodeRequest(bytes, kept);
  std::string json;
  AppendDecision(kept, json);
  return json;
}

TEST(DecisionJsonTest, HasWhatWasDecidedOfEachRule) {
  MadeRequest made("api", "u_42", false);
  made.now += std::chrono::nanoseconds(123'456'789);
  made.id.Take("req-1");
  made.decision(0).retry_after = std::chrono::microseconds(26'411'001);
  made.decision(0).reset_after = std::chrono::seconds(60);
  Decision& shadow = made.Add("other", "u_42", false);
  shadow.shadow = true;
  shadow.degraded = true;
  shadow.reason = Reason::kBanned;
  shadow.limit = kUnlimited;
  shadow.remaining = kUnlimited;
  shadow.retry_after = Decision::kNever;
  EXPECT_EQ(JsonOf(made),
            R"({"time":"2025-12-17T09:03:01.123456789Z","request_id":"req-1",)"
            R"("listener":"127.0.0.1:8080","judged_by":"rules","allowed":false,"cost":1,)"
            R"("decisions":[{"rule":"api","key":{"user_id":"u_42"},"outcome":"denied",)"
            R"("limit":10,"remaining":0,"cost":1,"charged":false,"reason":"quota_exceeded",)"
            R"("retry_after_ms":26412,"reset_after_ms":60000},)"
            R"({"rule":"other","key":{"user_id":"u_42"},"outcome":"shadow_denied",)"
            R"("limit":null,"remaining":null,"cost":1,"charged":false,"reason":"banned",)"
            R"("retry_after_ms":null,"reset_after_ms":0,"shadow":true,"degraded":true,)"
            R"("banned":true}]})");
}

TEST(DecisionJsonTest, EscapesWhatClientsChose) {
  MadeRequest made("api", "a\"\n\xff", true);
  made.attributes = {{"us\"er", "\x01"}};
  const std::string json = JsonOf(made, /*with_attributes=*/true);
  EXPECT_NE(json.find(R"("key":{"user_id":"a\"\n)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("attributes":{"us\"er":"\u0001"})"), std::string::npos) << json;
}

TEST(DecisionJsonTest, ATimeHasAllItsDigits) {
  EXPECT_EQ(TimeText(WallInstant(Duration(1))), "1970-01-01T00:00:00.000000001Z");
  EXPECT_EQ(TimeText(WallInstant(std::chrono::seconds(951'782'400))),
            "2000-02-29T00:00:00.000000000Z");
}

TEST(DecisionJsonTest, ARecordThatDoesNotFitIsNone) {
  MadeRequest made("api", std::string(500, 'x'), true);
  for (std::size_t size = 0; size < 500; ++size) {
    std::string room(size, '\0');
    EXPECT_EQ(insight::EncodeRequest(made.Record(), 0, false, room), 0U) << size;
  }
}

}  // namespace
}  // namespace sluice::records
