#include <string>

#include <gtest/gtest.h>

#include "integration/grpc/front_end_fixture.h"

namespace sluice::frontend::grpc {
namespace {

class HealthTest : public FrontEndFixture {
 protected:
  static std::string Named(const std::string& service) {
    std::string bytes;
    protozero::pbf_writer request(bytes);
    request.add_string(1, service);
    return Framed(bytes);
  }
  static std::string Status(char status) { return Framed(std::string("\x08") + status); }
};

TEST_F(HealthTest, CheckKnowsTheServerAndTheOldServicesName) {
  Open();
  const auto server = Call(kHealthCheck, Framed(""));
  const auto old = Call(kHealthCheck, Named("ratelimit"));
  const auto unknown = Call(kHealthCheck, Named("nobody"));
  const auto garbage = Call(kHealthCheck, Framed("\x0a\x7f"));
  Exchange();
  EXPECT_EQ(AnswerOf(server).body, Status(1));
  EXPECT_EQ(AnswerOf(old).body, Status(1));
  EXPECT_EQ(StatusOf(unknown), "5");
  EXPECT_EQ(StatusOf(garbage), "13");
  health_.Set(false);
  const auto after = Call(kHealthCheck, Named("ratelimit"));
  Exchange();
  EXPECT_EQ(AnswerOf(after).body, Status(2));
  EXPECT_EQ(StatusOf(after), "0");
}

TEST_F(HealthTest, WatchTellsEachChangeOnce) {
  Open();
  const auto stream = Call(kHealthWatch, Named("ratelimit"));
  const auto unknown = Call(kHealthWatch, Named("nobody"));
  Exchange();
  EXPECT_EQ(AnswerOf(stream).body, Status(1));
  EXPECT_FALSE(AnswerOf(stream).ended);
  EXPECT_EQ(AnswerOf(unknown).body, Status(3));
  front_end_->OnHealthChanged();
  Exchange();
  EXPECT_EQ(AnswerOf(stream).body, Status(1));
  health_.Set(false);
  front_end_->OnHealthChanged();
  Exchange();
  EXPECT_EQ(AnswerOf(stream).body, Status(1) + Status(2));
  client_->Reset(stream, 8);
  client_->Reset(unknown, 8);
  Exchange();
  health_.Set(true);
  front_end_->OnHealthChanged();
  Exchange();
}

TEST_F(HealthTest, WhoWatchesIsToldThatTheServerStops) {
  Open();
  const auto stream = Call(kHealthWatch, Framed(""));
  Exchange();
  health_.Set(false);
  front_end_->Drain();
  Exchange();
  EXPECT_EQ(AnswerOf(stream).body, Status(1) + Status(2));
  EXPECT_EQ(StatusOf(stream), "14");
}

TEST_F(HealthTest, WatchesOfOneConnectionAreBounded) {
  FrontEndSettings settings;
  settings.watches = 2;
  Open(settings);
  (void)Call(kHealthWatch, Framed(""));
  (void)Call(kHealthWatch, Framed(""));
  const auto third = Call(kHealthWatch, Framed(""));
  Exchange();
  EXPECT_EQ(StatusOf(third), "8");
}

}  // namespace
}  // namespace sluice::frontend::grpc
