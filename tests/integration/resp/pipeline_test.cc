// Many commands at once, over a store that answers at once and one that answers late.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/resp/front_end_fixture.h"

namespace sluice::frontend::resp {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

using PipelineTest = FrontEndFixture;

TEST_F(PipelineTest, AnyDepthIsAnsweredInOneWriteATurn) {
  MakeFrontEnd();
  const auto client = Connect();
  for (const int depth : {1, 64, 150}) {
    const int before = client->writes();
    std::string bytes;
    for (int i = 0; i < depth; ++i) {
      bytes += Sent("CL.THROTTLE k" + std::to_string(depth) + " 999 1 60");
    }
    client->Send(bytes);
    Turn();
    const std::vector<std::string> replies = Received(*client);
    ASSERT_EQ(replies.size(), static_cast<std::size_t>(depth));
    for (int i = 0; i < depth; ++i) {
      EXPECT_THAT(replies[static_cast<std::size_t>(i)],
                  StartsWith("[0 1000 " + std::to_string(999 - i) + " "));
    }
    EXPECT_EQ(client->writes(), before + 1);
  }
}

TEST_F(PipelineTest, AThousandDeepIsWholeAndInOrder) {
  MakeFrontEnd();
  const auto client = Connect();
  constexpr int kDepth = 20'000;
  std::string bytes;
  for (int i = 0; i < kDepth; ++i) {
    bytes += i % 3 == 0 ? Sent("ECHO " + std::to_string(i)) : Sent("CL.THROTTLE k 99999 1 60 1");
  }
  client->Send(bytes);
  Turn();
  const std::vector<std::string> replies = Received(*client);
  ASSERT_EQ(replies.size(), static_cast<std::size_t>(kDepth));
  int spent = 0;
  for (int i = 0; i < kDepth; ++i) {
    const std::string& reply = replies[static_cast<std::size_t>(i)];
    if (i % 3 == 0) {
      ASSERT_EQ(reply, std::to_string(i));
    } else {
      ASSERT_THAT(reply, StartsWith("[0 100000 " + std::to_string(99'999 - spent++) + " "));
    }
  }
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(PipelineTest, AnswersKeepTheirOrderHoweverLateTheStoreIs) {
  MakeFrontEnd({}, /*late=*/true);
  const auto client = Connect();
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    bytes += Sent("CL.THROTTLE k 99 1 60") + Sent("ECHO " + std::to_string(i)) +
             Sent("SLUICE.CHECK daily user_id=u");
  }
  bytes += Sent("SLUICE.RESET daily user_id=u") + Sent("SLUICE.STATUS daily user_id=u");
  client->Send(bytes);
  Turn();
  EXPECT_THAT(Received(*client), IsEmpty());
  std::vector<std::string> replies;
  while (late_->Pump()) {
    Turn();
    const std::vector<std::string> more = Received(*client);
    replies.insert(replies.end(), more.begin(), more.end());
  }
  ASSERT_EQ(replies.size(), 152U);
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_THAT(replies[3 * i], StartsWith("[0 100 " + std::to_string(99 - i) + " "));
    EXPECT_EQ(replies[3 * i + 1], std::to_string(i));
    EXPECT_THAT(replies[3 * i + 2], StartsWith("[allowed 1 remaining " + std::to_string(999 - i)));
  }
  EXPECT_EQ(replies[150], "1");
  EXPECT_THAT(replies[151], StartsWith("[allowed 1 remaining 1000"));
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(PipelineTest, LateAnswersShareAWrite) {
  MakeFrontEnd({}, /*late=*/true);
  const auto client = Connect();
  client->Send(Sent("CL.THROTTLE a 0 1 60") + Sent("CL.THROTTLE b 0 1 60"));
  Turn();
  late_->PumpAll();
  Turn();
  EXPECT_EQ(Received(*client).size(), 2U);
  EXPECT_EQ(client->writes(), 1);
}

TEST_F(PipelineTest, AnAnswerBelongsToTheProtocolThatItsCommandWasSentUnder) {
  MakeFrontEnd({}, /*late=*/true);
  const auto client = Connect();
  client->Send(Sent("SLUICE.STATUS api user_id=u") + Sent("HELLO 3") +
               Sent("SLUICE.STATUS api user_id=u"));
  Turn();
  late_->PumpAll();
  Turn();
  EXPECT_THAT(Received(*client),
              ElementsAre(StartsWith("[allowed"), StartsWith("{server"), StartsWith("{allowed")));
}

TEST_F(PipelineTest, AClientThatLeavesIsForgottenOnceTheStoreHasAnswered) {
  MakeFrontEnd({}, /*late=*/true);
  auto client = Connect();
  client->Send(Sent("CL.THROTTLE k 0 1 60") + Sent("PING") + Sent("SLUICE.CHECK * user_id=u") +
               Sent("SLUICE.RESET * user_id=u"));
  Turn();
  client->Vanish();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
  EXPECT_EQ(front_end_->exchanges_in_use(), 3U);
  late_->PumpAll();
  Turn();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(PipelineTest, AClientThatSaysItIsDoneStillGetsItsAnswers) {
  MakeFrontEnd({}, /*late=*/true);
  const auto client = Connect();
  client->Send(Sent("CL.THROTTLE k 0 1 60"));
  client->EndInput();
  Turn();
  EXPECT_FALSE(client->closed());
  late_->PumpAll();
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre("[0 1 0 -1 60]"));
  EXPECT_TRUE(client->closed());
}

}  // namespace
}  // namespace sluice::frontend::resp
