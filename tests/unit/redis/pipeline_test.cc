#include "redis/pipeline.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/shared_secret.h"
#include "support/store_calls.h"

namespace sluice::redis {
namespace {

using std::chrono::milliseconds;
using AskedSecret = support::Answered<SecretCall>;

class PipelineTest : public ::testing::Test {
 protected:
  Command Of(AskedSecret& call, int deadline_ms = 10) const {
    return {.request = Request::Of<SecretVerb>(call),
            .deadline = start_ + milliseconds(deadline_ms)};
  }
  void Write(Command command, std::string_view bytes = "*1\r\n$4\r\nPING\r\n") {
    pipeline_.output() += bytes;
    pipeline_.Expect(std::move(command));
  }
  void HandOut() {
    std::string out;
    pipeline_.TakeOutput(out);
  }

  const Pipeline::Time start_ = Pipeline::Time() + std::chrono::hours(1);
  Pipeline pipeline_;
};

TEST_F(PipelineTest, AReplyBelongsToTheOldestCommandWithoutOne) {
  AskedSecret one;
  AskedSecret two;
  Write(Of(one));
  Write(Of(two));
  HandOut();
  pipeline_.Append("+a\r\n>1\r\n+push\r\n+b\r");
  Command command;
  ASSERT_TRUE(pipeline_.Next(command));
  EXPECT_EQ(command.request.call(), &one);
  EXPECT_EQ(pipeline_.reply()[0].text, "a");
  EXPECT_FALSE(pipeline_.Next(command));
  pipeline_.Append("\n");
  ASSERT_TRUE(pipeline_.Next(command));
  EXPECT_EQ(command.request.call(), &two);
  EXPECT_EQ(pipeline_.reply()[0].text, "b");
  EXPECT_EQ(pipeline_.in_flight(), 0U);
}

TEST_F(PipelineTest, AReplyToWhatWasNotHandedOutIsAFault) {
  AskedSecret call;
  Write(Of(call));
  pipeline_.Append("+a\r\n");
  Command command;
  EXPECT_FALSE(pipeline_.Next(command));
  EXPECT_EQ(pipeline_.fault(), "unexpected reply");
  pipeline_.Begin();
  EXPECT_TRUE(pipeline_.fault().empty());
}

TEST_F(PipelineTest, OnlyWhatProvablyDidNotRunOrMayRunTwiceWaitsForTheNextConnection) {
  AskedSecret sent;
  AskedSecret unsent;
  Write(Of(sent));
  Write({.may_repeat = true, .bytes = "undo"});
  Write({});  // Nobody waits for it.
  HandOut();
  Write(Of(unsent));
  const std::vector<Command> lost = pipeline_.End(false);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].request.call(), &sent);
  EXPECT_TRUE(pipeline_.output().empty());
  const std::deque<Command> waiting = pipeline_.TakeWaiting();
  ASSERT_EQ(waiting.size(), 2U);
  EXPECT_EQ(waiting[0].bytes, "undo");
  EXPECT_EQ(waiting[1].request.call(), &unsent);
}

TEST_F(PipelineTest, KnowsWhoseDeadlineIsOver) {
  AskedSecret early;
  AskedSecret late;
  AskedSecret waits;
  Write(Of(late, 20));
  Write(Of(early, 10));
  pipeline_.Wait(Of(waits, 15));
  EXPECT_EQ(pipeline_.next_deadline(), start_ + milliseconds(10));
  auto over = pipeline_.TakeLate(start_ + milliseconds(10));
  ASSERT_EQ(over.sent.size(), 1U);
  EXPECT_EQ(over.sent[0]->request.call(), &early);
  EXPECT_TRUE(over.waiting.empty());
  over.sent[0]->request = {};
  EXPECT_EQ(pipeline_.next_deadline(), start_ + milliseconds(15));
  over = pipeline_.TakeLate(start_ + milliseconds(15));
  EXPECT_TRUE(over.sent.empty());
  ASSERT_EQ(over.waiting.size(), 1U);
  EXPECT_EQ(over.waiting[0].request.call(), &waits);
  EXPECT_EQ(pipeline_.next_deadline(), start_ + milliseconds(20));
  EXPECT_EQ(pipeline_.in_flight(), 2U);  // Both replies still come.
}

TEST_F(PipelineTest, AnUndoThatWaitsHasADeadlineToo) {
  Write({.deadline = start_ + milliseconds(5), .may_repeat = true, .bytes = "undo"});
  HandOut();
  EXPECT_EQ(pipeline_.next_deadline(), Pipeline::Time::max());  // On its way it bothers nobody.
  EXPECT_TRUE(pipeline_.End(false).empty());
  EXPECT_EQ(pipeline_.next_deadline(), start_ + milliseconds(5));
  EXPECT_EQ(pipeline_.TakeLate(start_ + milliseconds(5)).waiting.size(), 1U);
}

}  // namespace
}  // namespace sluice::redis
