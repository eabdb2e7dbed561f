#include <string>

#include <gtest/gtest.h>

#include "integration/grpc/front_end_fixture.h"
#include "net/event_loop.h"

namespace sluice::frontend::grpc {
namespace {

using support::Http2Frame;

class BoundsTest : public FrontEndFixture {};

TEST_F(BoundsTest, ABodyThatDoesNotComeIsAnsweredAndTheOthersAreServed) {
  FrontEndSettings settings;
  settings.body_timeout = std::chrono::milliseconds(5);
  Open(settings);
  store_.answer_at_once = true;
  const auto slow = client_->Ask("POST", kShouldRateLimit, "x",
                                 {{"content-type", "application/grpc"}}, /*more=*/true);
  Exchange();
  Until([&] { return StatusOf(slow) == "4"; });
  const auto next = AskRls();
  Exchange();
  EXPECT_EQ(StatusOf(next), "0");
}

TEST_F(BoundsTest, BodiesOfManyCallsShareTheConnectionsWindow) {
  FrontEndSettings settings;
  settings.streams = 200;
  Open(settings);
  Exchange();
  // 200 calls that each keep 60 KB open: more than the connection may hold.
  for (int i = 0; i < 200; ++i) {
    (void)client_->Ask("POST", kShouldRateLimit, std::string(60'000, 'x'),
                       {{"content-type", "application/grpc"}}, /*more=*/true);
  }
  std::size_t sent = 0;
  for (;;) {
    const std::string up = client_->Output();
    sent += up.size();
    peer_->Send(up);
    Turn();
    const std::string down = std::exchange(peer_->received(), {});
    (void)client_->Input(down);
    if (up.empty() && down.empty()) {
      break;
    }
  }
  EXPECT_LT(sent, 1'200'000U);
}

TEST_F(BoundsTest, AHeaderThatDoesNotEndClosesTheConnection) {
  FrontEndSettings settings;
  settings.header_timeout = std::chrono::milliseconds(5);
  Open(settings);
  Exchange();
  peer_->Send(Http2Frame(1, 0, 1, std::string("\x83\x86", 2)));
  while (!peer_->closed()) {
    loop_.RunOne();
  }
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(BoundsTest, AnIdleConnectionIsClosed) {
  FrontEndSettings settings;
  settings.idle_timeout = std::chrono::milliseconds(5);
  Open(settings);
  Exchange();
  while (!peer_->closed()) {
    loop_.RunOne();
  }
}

TEST_F(BoundsTest, AnOldConnectionIsToldToGoAndItsCallsAreAnswered) {
  FrontEndSettings settings;
  settings.max_age = std::chrono::milliseconds(5);
  settings.drain_grace = std::chrono::milliseconds(5);
  Open(settings);
  const auto stream = AskRls();
  Exchange();
  Until([&] { return client_->goaways >= 2; });
  EXPECT_EQ(StatusOf(stream), "");
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(StatusOf(stream), "0");
  while (!peer_->write_shut()) {
    loop_.RunOne();
  }
}

TEST_F(BoundsTest, AnOldConnectionWhoseCallsDoNotEndIsEnded) {
  FrontEndSettings settings;
  settings.max_age = std::chrono::milliseconds(5);
  settings.max_age_grace = std::chrono::milliseconds(5);
  Open(settings);
  (void)AskRls();
  Exchange();
  while (!peer_->closed()) {
    loop_.RunOne();
  }
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
  store_.AnswerAll();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(BoundsTest, ADrainAnswersWhatWasAskedAndEnds) {
  FrontEndSettings settings;
  settings.drain_grace = std::chrono::milliseconds(5);
  Open(settings);
  const auto stream = AskRls();
  Exchange();
  front_end_->Drain();
  const auto late = AskRls();  // It did not know yet.
  Exchange();
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(StatusOf(stream), "0");
  EXPECT_EQ(StatusOf(late), "0");
  while (!peer_->write_shut()) {
    loop_.RunOne();
  }
  peer_->EndInput();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
}

TEST_F(BoundsTest, WhatIsNoHttp2EndsTheConnection) {
  Open();
  peer_->Send("POST /envoy HTTP/1.1\r\nHost: x\r\n\r\n");
  Turn();
  while (!peer_->closed() && !peer_->write_shut()) {
    loop_.RunOne();
  }
}

}  // namespace
}  // namespace sluice::frontend::grpc
