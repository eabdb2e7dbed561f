#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "integration/resp/front_end_fixture.h"

// What a check gave out comes back over this protocol too.
namespace sluice::frontend::resp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class RedemptionCommandsTest : public FrontEndFixture {
 protected:
  void SetUp() override {
    MakeFrontEnd();
    client_ = Connect("192.0.2.9");  // A stranger: it may give back what it was given.
  }
  void TearDown() override { client_.reset(); }

  std::string Ask(const std::string& line) { return FrontEndFixture::Ask(*client_, line); }
  // The word behind `name` in a reply.
  static std::string WordAfter(const std::string& reply, const std::string& name) {
    const std::size_t at = reply.rfind(name + " ");
    EXPECT_NE(at, std::string::npos) << reply;
    const std::size_t begin = at + name.size() + 1;
    return reply.substr(begin, reply.find_first_of(" ]", begin) - begin);
  }
  std::string TakeJob() { return WordAfter(Ask("SLUICE.CHECK jobs job=1"), "id"); }
  std::string LeftOf(const std::string& rule) {
    const bool of_job = rule == "jobs";
    const std::string reply =
        Ask("SLUICE.STATUS " + rule + (of_job ? " job=1" : " user_id=u model=m tokens=1"));
    return WordAfter(reply.substr(0, reply.find("reset_at")), "remaining");
  }
  std::vector<std::string> Edited(const std::string& token) {
    std::vector<std::string> edited;
    for (std::size_t i = 0; i < token.size(); ++i) {
      for (const char letter : {'A', 'g', '_'}) {
        edited.push_back(token);
        edited.back()[i] = letter;
      }
      edited.push_back(token.substr(0, i));
    }
    std::erase_if(edited, [&](const std::string& text) { return text == token || text.empty(); });
    return edited;
  }

  std::unique_ptr<net::FakeClient> client_;
};

TEST_F(RedemptionCommandsTest, WhoIsGrantedAHoldGivesItBackOnce) {
  const std::string first = TakeJob();
  const std::string second = TakeJob();
  const std::string denied = Ask("SLUICE.CHECK jobs job=1");
  EXPECT_THAT(denied, StartsWith("[allowed 0"));
  EXPECT_THAT(denied, HasSubstr("holds []"));
  EXPECT_EQ(Ask("SLUICE.RELEASE jobs " + first), "1");
  EXPECT_EQ(Ask("SLUICE.RELEASE jobs " + first), "0");
  EXPECT_EQ(Ask("SLUICE.RELEASE jobs " + first + " jobs " + second), "1");
  EXPECT_EQ(LeftOf("jobs"), "2");
}

TEST_F(RedemptionCommandsTest, ARenewedHoldOutlivesTheOthers) {
  const std::string kept = TakeJob();
  const std::string left = TakeJob();
  clock_.Advance(std::chrono::seconds(50));
  EXPECT_EQ(Ask("SLUICE.RENEW jobs " + kept), "1");
  clock_.Advance(std::chrono::seconds(50));
  EXPECT_EQ(LeftOf("jobs"), "1");
  EXPECT_EQ(Ask("SLUICE.RENEW jobs " + kept + " jobs " + left), "1");
}

TEST_F(RedemptionCommandsTest, AReservationIsSettledAtWhatItCost) {
  const std::string reply = Ask("SLUICE.CHECK daily user_id=u COST 500 RESERVE");
  const std::string reservation = WordAfter(reply, "reservation");
  EXPECT_EQ(reply.find("receipt"), std::string::npos);
  const std::string settled = "[[name daily charged 500 cost 120]]";
  EXPECT_EQ(Ask("SLUICE.SETTLE " + reservation + " COST 120"), settled);
  EXPECT_EQ(Ask("SLUICE.SETTLE " + reservation + " COST 0"), settled);
  EXPECT_EQ(LeftOf("daily"), "880");
}

TEST_F(RedemptionCommandsTest, AnAttributeThatIsTheCostIsSettledByItsName) {
  const std::string reservation =
      WordAfter(Ask("SLUICE.CHECK tokens model=m tokens=60 RESERVE"), "reservation");
  EXPECT_EQ(Ask("SLUICE.SETTLE " + reservation + " tokens=10"),
            "[[name tokens charged 60 cost 10]]");
  EXPECT_EQ(LeftOf("tokens"), "90");
}

TEST_F(RedemptionCommandsTest, AReceiptGivesAllBackOnce) {
  const std::string reply = Ask("SLUICE.CHECK * user_id=u COST 4 RECEIPT");
  const std::string receipt = WordAfter(reply, "receipt");
  const std::string refunded = "[[name api units 4] [name daily units 4]]";
  EXPECT_EQ(Ask("SLUICE.REFUND RECEIPT " + receipt), refunded);
  EXPECT_EQ(Ask("SLUICE.REFUND RECEIPT " + receipt), refunded);
  EXPECT_EQ(LeftOf("daily"), "1000");
  EXPECT_THAT(Ask("SLUICE.REFUND * user_id=u"), StartsWith("NOPERM"));  // Still an operator's.
}

TEST_F(RedemptionCommandsTest, TheMapOfRespThreeHasTheSameMembers) {
  Ask("HELLO 3");
  const std::string reply = Ask("SLUICE.CHECK daily user_id=u RECEIPT RESERVE");
  EXPECT_THAT(reply, HasSubstr(" receipt "));
  EXPECT_THAT(reply, HasSubstr(" reservation "));
  EXPECT_EQ(Ask("SLUICE.REFUND receipt " + WordAfter(reply, "receipt")), "[{name daily units 1}]");
}

TEST_F(RedemptionCommandsTest, NothingEditedIsTaken) {
  const std::string hold = TakeJob();
  const std::string reply = Ask("SLUICE.CHECK daily user_id=u COST 4 RECEIPT RESERVE");
  for (const std::string& token : Edited(hold)) {
    EXPECT_THAT(Ask("SLUICE.RELEASE jobs " + token),
                testing::AnyOf(StartsWith("ERR rule and id"), "0"));
    EXPECT_THAT(Ask("SLUICE.RENEW jobs " + token),
                testing::AnyOf(StartsWith("ERR rule and id"), "0"));
  }
  for (const std::string& token : Edited(WordAfter(reply, "receipt"))) {
    EXPECT_THAT(Ask("SLUICE.REFUND RECEIPT " + token),
                testing::AnyOf(StartsWith("ERR the receipt"), StartsWith("NOTFOUND")));
  }
  for (const std::string& token : Edited(WordAfter(reply, "reservation"))) {
    EXPECT_THAT(Ask("SLUICE.SETTLE " + token + " COST 0"),
                testing::AnyOf(StartsWith("ERR the reservation"), StartsWith("NOTFOUND")));
  }
  EXPECT_EQ(LeftOf("jobs"), "1");
  EXPECT_EQ(LeftOf("daily"), "996");
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(RedemptionCommandsTest, SaysWhatIsWrong) {
  const std::string reservation =
      WordAfter(Ask("SLUICE.CHECK daily user_id=u RESERVE"), "reservation");
  const std::string receipt = WordAfter(Ask("SLUICE.CHECK daily user_id=u RECEIPT"), "receipt");
  const struct {
    std::string line;
    const char* error;
  } cases[] = {
      {"SLUICE.RELEASE jobs", "ERR wrong number of arguments"},
      {"SLUICE.RELEASE jobs x y", "ERR name the rule and the id"},
      {"SLUICE.RELEASE jobs 12345", "ERR rule and id must come"},
      {"SLUICE.SETTLE " + reservation, "ERR wrong number of arguments"},
      {"SLUICE.SETTLE " + reservation + " COST", "ERR give the actual cost"},
      {"SLUICE.SETTLE " + reservation + " COST -1", "ERR COST must be"},
      {"SLUICE.SETTLE " + reservation + " tokens=x", "ERR an attribute's cost"},
      {"SLUICE.SETTLE " + reservation + " COST 1 PEEK", "ERR give the actual cost"},
      {"SLUICE.SETTLE " + receipt + " COST 1", "ERR the reservation must come"},
      {"SLUICE.REFUND RECEIPT " + reservation, "ERR the receipt must come"},
  };
  for (const auto& each : cases) {
    EXPECT_THAT(Ask(each.line), StartsWith(each.error)) << each.line;
  }
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

// A client that asks and does not wait: what it is answered comes in order.
TEST_F(RedemptionCommandsTest, APipelineIsCarriedOutInItsOrder) {
  const std::string hold = TakeJob();
  client_->Send(Sent("SLUICE.CHECK jobs job=1") + Sent("SLUICE.RELEASE jobs " + hold) +
                Sent("SLUICE.STATUS jobs job=1"));
  Turn();
  EXPECT_THAT(Received(*client_), testing::ElementsAre(StartsWith("[allowed 1 remaining 0"), "1",
                                                       StartsWith("[allowed 1 remaining 1")));
}

}  // namespace
}  // namespace sluice::frontend::resp
