// What a client may not do: to our memory, and to everybody's time.
#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/resp/front_end_fixture.h"

namespace sluice::frontend::resp {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using BoundsTest = FrontEndFixture;

TEST_F(BoundsTest, ACommandThatIsTooLargeIsToldSoAndEndsTheConnection) {
  MakeFrontEnd();
  for (const std::string& bytes :
       {std::string("*1\r\n$536870912\r\n"), std::string("*1000000\r\n"),
        "*1\r\n$65536\r\n" + std::string(1000, 'x'), std::string(70'000, 'x'),
        std::string("*1\r\n*1\r\n*1\r\n*1\r\n")}) {
    const auto client = Connect();
    client->Send(Sent("PING") + bytes + Sent("PING"));
    Turn();
    EXPECT_THAT(Received(*client), ElementsAre("PONG", StartsWith("ERR Protocol error: ")));
    EXPECT_TRUE(client->write_shut());
    client->EndInput();
    Turn();
    EXPECT_TRUE(client->closed());
  }
}

TEST_F(BoundsTest, AStrangerMaySendLittle) {
  const AccessToken secret("secret");
  FrontEndSettings settings;
  settings.password = &secret;
  MakeFrontEnd(std::move(settings));
  const auto client = Connect();
  client->Send("*1\r\n$5000\r\n");
  Turn();
  EXPECT_THAT(Received(*client), ElementsAre(HasSubstr("bulk length")));
  const auto known = Connect();
  EXPECT_EQ(Ask(*known, "AUTH secret"), "OK");
  EXPECT_EQ(Ask(*known, "ECHO " + std::string(5000, 'x')).size(), 5000U);
}

TEST_F(BoundsTest, ASlowReaderIsReadFromNoMore) {
  FrontEndSettings settings;
  settings.output_bytes = 10'000;
  MakeFrontEnd(std::move(settings));
  const auto client = Connect();
  client->HoldWrites(true);
  const std::string echo = Sent("ECHO " + std::string(1'000, 'x'));
  std::string bytes;
  for (int i = 0; i < 1'000; ++i) {
    bytes += echo;
  }
  client->Send(bytes);
  Turn();
  // What is being written, what is to follow, and what was read: far from all of it.
  EXPECT_GT(client->unread(), bytes.size() * 9 / 10);
  client->HoldWrites(false);
  Turn();
  EXPECT_EQ(Received(*client).size(), 1'000U);
  EXPECT_EQ(client->unread(), 0U);
}

TEST_F(BoundsTest, CommandsWithoutAnAnswerYetAreBounded) {
  FrontEndSettings settings;
  settings.pipeline = 10;
  MakeFrontEnd(std::move(settings), /*late=*/true);
  const auto client = Connect();
  std::string bytes;
  for (int i = 0; i < 5'000; ++i) {
    bytes += Sent("CL.THROTTLE k 9999 1 60") + Sent("PING");
  }
  client->Send(bytes);
  Turn();
  EXPECT_EQ(late_->pending(), 5U);
  EXPECT_GT(client->unread(), bytes.size() / 2);
  while (late_->Pump()) {
    Turn();
    ASSERT_LE(front_end_->exchanges_in_use(), 10U);
  }
  EXPECT_EQ(Received(*client).size(), 10'000U);
}

TEST_F(BoundsTest, AStrangerHasLittleTime) {
  const AccessToken secret("secret");
  FrontEndSettings settings;
  settings.password = &secret;
  settings.login_timeout = milliseconds(20);
  MakeFrontEnd(std::move(settings));
  const auto client = Connect();
  EXPECT_THAT(Ask(*client, "PING"), StartsWith("NOAUTH"));
  EXPECT_TRUE(Until([&] { return client->closed(); }));
}

TEST_F(BoundsTest, ACommandThatDoesNotEndIsNotAwaitedForever) {
  FrontEndSettings settings;
  settings.command_timeout = milliseconds(20);
  MakeFrontEnd(std::move(settings));
  const auto client = Connect();
  client->Send("*2\r\n$4\r\nECHO\r\n$100\r\nabc");
  EXPECT_TRUE(Until([&] { return client->closed(); }));
}

TEST_F(BoundsTest, AnIdleConnectionEndsAfterItsTime) {
  FrontEndSettings settings;
  settings.idle_timeout = milliseconds(20);
  MakeFrontEnd(std::move(settings));
  const auto client = Connect();
  EXPECT_EQ(Ask(*client, "PING"), "PONG");
  EXPECT_TRUE(Until([&] { return client->closed(); }));
}

TEST_F(BoundsTest, AWriteThatIsStuckEndsTheConnection) {
  FrontEndSettings settings;
  settings.write_timeout = milliseconds(20);
  MakeFrontEnd(std::move(settings));
  const auto client = Connect();
  client->HoldWrites(true);
  client->Send(Sent("PING"));
  EXPECT_TRUE(Until([&] { return client->closed(); }));
}

TEST_F(BoundsTest, ADrainAnswersWhatWasAskedAndClosesWhoIsIdle) {
  FrontEndSettings settings;
  settings.drain_grace = milliseconds(250);
  MakeFrontEnd(std::move(settings), /*late=*/true);
  const auto busy = Connect();
  const auto idle = Connect();
  busy->Send(Sent("CL.THROTTLE k 0 1 60"));
  Turn();
  front_end_->Drain();
  EXPECT_FALSE(idle->closed());
  EXPECT_EQ(Ask(*idle, "PING"), "PONG");  // Within the grace.
  EXPECT_TRUE(Until([&] { return idle->closed(); }));
  EXPECT_FALSE(busy->closed());
  late_->PumpAll();
  Turn();
  EXPECT_THAT(Received(*busy), ElementsAre("[0 1 0 -1 60]"));
  EXPECT_TRUE(Until([&] { return busy->closed() || busy->write_shut(); }));
  const auto late = Connect();
  EXPECT_TRUE(late->closed());
  EXPECT_THAT(Received(*late), IsEmpty());
}

}  // namespace
}  // namespace sluice::frontend::resp
