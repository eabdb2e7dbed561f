// SLUICE.CHECK, STATUS, RESET and REFUND.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/resp/front_end_fixture.h"

namespace sluice::frontend::resp {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class RuleCommandsTest : public FrontEndFixture {
 protected:
  void SetUp() override {
    MakeFrontEnd();
    client_ = Connect();
  }
  std::string Ask(const std::string& line) { return FrontEndFixture::Ask(*client_, line); }

  std::unique_ptr<net::FakeClient> client_;
};

// 2023-11-14T00:00:00Z is 1699920000.
TEST_F(RuleCommandsTest, ACheckAnswersWhatItsJsonSays) {
  EXPECT_EQ(Ask("SLUICE.CHECK * user_id=u"),
            "[allowed 1 remaining 9 reset_at 1699920001 limits "
            "[[name api allowed 1 limit 10 remaining 9 reset_at 1699920001] "
            "[name daily allowed 1 limit 1000 remaining 999 reset_at 1700006400]]]");
  EXPECT_EQ(Ask("SLUICE.CHECK * user_id=u COST 10"),
            "[allowed 0 remaining 9 reset_at 1699920001 retry_after 1 retry_after_ms 1000 limits "
            "[[name api allowed 0 limit 10 remaining 9 reset_at 1699920001 reason quota_exceeded "
            "retry_after_ms 1000] "
            "[name daily allowed 1 limit 1000 remaining 999 reset_at 1700006400]]]");
  EXPECT_EQ(Ask("HELLO 3").substr(0, 1), "{");
  EXPECT_EQ(Ask("sluice.check api user_id=u cost 11"),
            "{allowed false remaining 9 reset_at 1699920001 retry_after nil retry_after_ms nil "
            "limits [{name api allowed false limit 10 remaining 9 reset_at 1699920001 reason "
            "cost_exceeds_capacity retry_after_ms nil}]}");
}

TEST_F(RuleCommandsTest, ANamedRuleIsAskedAlone) {
  EXPECT_THAT(Ask("SLUICE.CHECK daily user_id=u COST 600"), StartsWith("[allowed 1 remaining 400"));
  EXPECT_THAT(Ask("SLUICE.CHECK daily user_id=u COST 600"), StartsWith("[allowed 0 remaining 400"));
  EXPECT_THAT(Ask("SLUICE.STATUS api user_id=u"), StartsWith("[allowed 1 remaining 10"));
  // It does not apply here; and no other rule's needs stand in its way.
  EXPECT_EQ(Ask("SLUICE.CHECK api job=1"), "[allowed 1 remaining nil reset_at nil limits []]");
  EXPECT_THAT(Ask("SLUICE.CHECK api user_id=u model=m"), StartsWith("[allowed 1 remaining 9"));
  EXPECT_THAT(Ask("SLUICE.CHECK * user_id=u model=m"),
              StartsWith("ERR attribute tokens is missing"));
  EXPECT_EQ(Ask("SLUICE.CHECK ap?i user_id=u"), "ERR there is no rule ap?i");
  EXPECT_EQ(Ask("SLUICE.RESET ap?i user_id=u"), "ERR there is no rule ap?i");
}

TEST_F(RuleCommandsTest, ACheckUnderTheKillSwitchSaysSo) {
  service_->SetModes({.all = rules::Mode::kOff, .by_rule = {}});
  EXPECT_EQ(Ask("SLUICE.CHECK * user_id=u"),
            "[allowed 1 remaining nil reset_at nil limits [] kill_switch 1]");
}

TEST_F(RuleCommandsTest, APeekAndAStatusSpendNothing) {
  EXPECT_THAT(Ask("SLUICE.CHECK api user_id=u COST 4 PEEK"), StartsWith("[allowed 1 remaining 10"));
  EXPECT_THAT(Ask("SLUICE.CHECK api user_id=u PEEK COST 11"),
              StartsWith("[allowed 0 remaining 10"));
  EXPECT_THAT(Ask("SLUICE.STATUS api user_id=u COST 11"), StartsWith("[allowed 0 remaining 10"));
  EXPECT_THAT(Ask("SLUICE.STATUS * user_id=u model=m"), HasSubstr("name tokens allowed 1"));
  EXPECT_EQ(table_->Stats().inserts, 0U);
}

TEST_F(RuleCommandsTest, ResetAndRefundSayHowManyKeysTheyTouched) {
  Ask("SLUICE.CHECK * user_id=u COST 8");
  EXPECT_EQ(Ask("SLUICE.REFUND * user_id=u COST 3"), "2");
  EXPECT_THAT(Ask("SLUICE.STATUS * user_id=u"), StartsWith("[allowed 1 remaining 5"));
  EXPECT_EQ(Ask("SLUICE.REFUND api user_id=u"), "1");
  EXPECT_THAT(Ask("SLUICE.STATUS * user_id=u"), StartsWith("[allowed 1 remaining 6"));
  EXPECT_EQ(Ask("SLUICE.RESET api user_id=u"), "1");
  EXPECT_THAT(Ask("SLUICE.STATUS api user_id=u"), StartsWith("[allowed 1 remaining 10"));
  EXPECT_THAT(Ask("SLUICE.STATUS daily user_id=u"), StartsWith("[allowed 1 remaining 995"));
  EXPECT_EQ(Ask("SLUICE.RESET * user_id=u"), "2");
  EXPECT_THAT(Ask("SLUICE.STATUS daily user_id=u"), StartsWith("[allowed 1 remaining 1000"));
  EXPECT_EQ(Ask("SLUICE.RESET * other=u"), "0");
  EXPECT_THAT(Ask("SLUICE.REFUND jobs job=1"),
              StartsWith("ERR a concurrency rule has holds instead of a counter"));
}

TEST_F(RuleCommandsTest, OnlyWhoMayLiftsLimits) {
  const auto stranger = Connect("192.0.2.9");
  EXPECT_THAT(FrontEndFixture::Ask(*stranger, "SLUICE.CHECK api user_id=u"),
              StartsWith("[allowed 1"));
  EXPECT_THAT(FrontEndFixture::Ask(*stranger, "SLUICE.RESET * user_id=u"),
              StartsWith("NOPERM sluice.reset is only for clients on this host"));
  EXPECT_THAT(FrontEndFixture::Ask(*stranger, "SLUICE.REFUND * user_id=u"), StartsWith("NOPERM"));
  EXPECT_EQ(Ask("SLUICE.RESET api user_id=u"), "1");

  client_.reset();
  const AccessToken secret("secret");
  FrontEndSettings settings;
  settings.password = &secret;
  front_end_->CloseAll();
  Turn();
  MakeFrontEnd(std::move(settings));
  const auto known = Connect("192.0.2.9");
  EXPECT_EQ(FrontEndFixture::Ask(*known, "AUTH secret"), "OK");
  EXPECT_EQ(FrontEndFixture::Ask(*known, "SLUICE.RESET api user_id=u"), "1");
}

TEST_F(RuleCommandsTest, SaysWhatIsWrongWithARequest) {
  const struct {
    const char* line;
    const char* error;
  } cases[] = {
      {"SLUICE.CHECK", "ERR wrong number of arguments"},
      {"SLUICE.CHECK * user_id", "ERR attributes are written name=value"},
      {"SLUICE.CHECK * =u", "ERR attributes are written name=value"},
      {"SLUICE.CHECK * user_id=u user_id=v", "ERR an attribute is given twice"},
      {"SLUICE.CHECK * user_id=u COST", "ERR attributes are written name=value; then COST"},
      {"SLUICE.CHECK * user_id=u COST 1 COST 1", "ERR attributes are written name=value; then"},
      {"SLUICE.CHECK * user_id=u COST -1", "ERR COST must be a whole number from 0"},
      {"SLUICE.CHECK * user_id=u COST 1000000000000000", "ERR COST must be"},
      {"SLUICE.CHECK * user_id=u COST 1.5", "ERR COST must be"},
      {"SLUICE.CHECK * user_id=u PEEK x=y", "ERR attributes are written"},
      {"SLUICE.STATUS * user_id=u PEEK", "ERR attributes are written"},
      {"SLUICE.RESET * user_id=u COST 1", "ERR attributes are written"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(Ask(each.line), StartsWith(each.error)) << each.line;
  }
  std::string many = "SLUICE.CHECK *";
  for (int i = 0; i < 65; ++i) {
    many += " a" + std::to_string(i) + "=1";
  }
  EXPECT_EQ(Ask(many), "ERR a request may have at most 64 attributes");
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
  EXPECT_EQ(table_->Stats().inserts, 0U);
}

TEST_F(RuleCommandsTest, ValuesMayHoldAnything) {
  std::string bytes;
  wire::AppendRespCommand(std::vector<std::string_view>{"SLUICE.CHECK", "api", "user_id=a=b \r\n"},
                          bytes);
  client_->Send(bytes + bytes);
  Turn();
  EXPECT_THAT(Received(*client_), ElementsAre(StartsWith("[allowed 1 remaining 9"),
                                              StartsWith("[allowed 1 remaining 8")));
}

// What was asked before an operation is decided before it, and what comes after it after.
TEST_F(RuleCommandsTest, APipelineIsCarriedOutInItsOrder) {
  client_->Send(Sent("SLUICE.CHECK api user_id=u COST 7") +
                Sent("SLUICE.REFUND api user_id=u COST 2") +
                Sent("SLUICE.CHECK api user_id=u COST 5") + Sent("SLUICE.RESET api user_id=u") +
                Sent("SLUICE.STATUS api user_id=u"));
  Turn();
  EXPECT_THAT(Received(*client_), ElementsAre(StartsWith("[allowed 1 remaining 3"), "1",
                                              StartsWith("[allowed 1 remaining 0"), "1",
                                              StartsWith("[allowed 1 remaining 10")));
  EXPECT_EQ(client_->writes(), 1);
}

}  // namespace
}  // namespace sluice::frontend::resp
