#include <string>

#include <gtest/gtest.h>

#include "integration/grpc/front_end_fixture.h"

namespace sluice::frontend::grpc {
namespace {

class RefusalTest : public FrontEndFixture {
 protected:
  std::string Message() { return support::RlsRequestMessage("d", {{.entries = {{"k", "v"}}}}); }
};

TEST_F(RefusalTest, WhatIsNoGrpcIsAnsweredInHttp) {
  Open();
  const auto get =
      client_->Ask("GET", kShouldRateLimit, "", {{"content-type", "application/grpc"}});
  const auto json = client_->Ask("POST", kShouldRateLimit, "{}", {{"content-type", "text/json"}});
  const auto almost =
      client_->Ask("POST", kShouldRateLimit, "{}", {{"content-type", "application/grpcs"}});
  Exchange();
  EXPECT_EQ(AnswerOf(get).status, 405);
  EXPECT_EQ(AnswerOf(json).status, 415);
  EXPECT_EQ(AnswerOf(almost).status, 415);
}

TEST_F(RefusalTest, UnknownMethodsAreUnimplemented) {
  Open();
  for (const char* path : {"/", "/grpc.health.v1.Health/Nope", "/a.B/C",
                           "/envoy.service.ratelimit.v2.RateLimitService/ShouldRateLimit"}) {
    const auto stream = Call(path, Framed(""));
    Exchange();
    EXPECT_EQ(AnswerOf(stream).status, 200) << path;
    EXPECT_EQ(StatusOf(stream), "12") << path;
  }
}

TEST_F(RefusalTest, EveryMalformedBodyHasItsCode) {
  Open();
  const std::string framed = Framed(Message());
  const auto none = Call(kShouldRateLimit, "");
  const auto prefix = Call(kShouldRateLimit, framed.substr(0, 3));
  const auto cut = Call(kShouldRateLimit, framed.substr(0, framed.size() - 1));
  const auto two = Call(kShouldRateLimit, framed + framed);
  std::string flagged = framed;
  flagged[0] = 7;
  const auto flag = Call(kShouldRateLimit, flagged);
  const auto garbage = Call(kShouldRateLimit, Framed("\xff\xff\xff"));
  const auto bytes = Call(kShouldRateLimit, Framed(std::string("\x0a\x02\xff\xfe", 4)));
  const auto large = Call(kShouldRateLimit, Framed(std::string(70'000, 'x')));
  const auto huge = Call(kShouldRateLimit, std::string("\0\x7f\xff\xff\xff", 5) + "x");
  Exchange();
  EXPECT_EQ(StatusOf(none), "12");
  EXPECT_EQ(StatusOf(prefix), "13");
  EXPECT_EQ(StatusOf(cut), "13");
  EXPECT_EQ(StatusOf(two), "12");
  EXPECT_EQ(StatusOf(flag), "13");
  EXPECT_EQ(StatusOf(garbage), "13");
  EXPECT_EQ(StatusOf(bytes), "13");
  EXPECT_EQ(StatusOf(large), "8");
  EXPECT_EQ(StatusOf(huge), "8");
  store_.answer_at_once = true;
  const auto sound = Call(kShouldRateLimit, framed);
  Exchange();
  EXPECT_EQ(StatusOf(sound), "0");
  EXPECT_EQ(client_->goaways, 0);
}

TEST_F(RefusalTest, ATokenIsAskedForByAllButHealth) {
  const AccessToken token("secret");
  FrontEndSettings settings;
  settings.token = &token;
  Open(settings);
  store_.answer_at_once = true;
  const auto stranger = AskRls();
  const auto wrong = Call(kShouldRateLimit, Framed(Message()), {{"authorization", "Bearer nope"}});
  const auto friends =
      Call(kShouldRateLimit, Framed(Message()), {{"authorization", "Bearer secret"}});
  const auto health = Call(kHealthCheck, Framed(""));
  Exchange();
  EXPECT_EQ(StatusOf(stranger), "16");
  EXPECT_EQ(StatusOf(wrong), "16");
  EXPECT_EQ(StatusOf(friends), "0");
  EXPECT_EQ(StatusOf(health), "0");
}

TEST_F(RefusalTest, WithoutEnvoysServiceItsMethodIsUnimplemented) {
  Open();
  front_end_ = std::make_unique<FrontEnd>(loop_, service_, nullptr, health_, FrontEndSettings{});
  Connect();
  const auto stream = AskRls();
  const auto health = Call(kHealthCheck, Framed(""));
  Exchange();
  EXPECT_EQ(StatusOf(stream), "12");
  EXPECT_EQ(StatusOf(health), "0");
}

}  // namespace
}  // namespace sluice::frontend::grpc
