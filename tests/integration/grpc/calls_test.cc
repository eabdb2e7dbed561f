#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <zlib.h>

#include "integration/grpc/front_end_fixture.h"

namespace sluice::frontend::grpc {
namespace {

class CallsTest : public FrontEndFixture {};

std::string CheckRequest(const std::string& user, std::int64_t cost, const std::string& rule = "") {
  std::string bytes;
  protozero::pbf_writer request(bytes);
  {
    protozero::pbf_writer attribute(request, 1);
    attribute.add_string(1, "user");
    attribute.add_string(2, user);
  }
  request.add_int64(2, cost);
  request.add_string(3, rule);
  return bytes;
}

std::string Gzipped(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(bytes.size() + 100, '\0');
  std::string in = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST_F(CallsTest, ShouldRateLimitAnswersWithAMessageAndTrailers) {
  Open();
  store_.answer_at_once = true;
  const auto stream = AskRls(7);
  Exchange();
  EXPECT_EQ(AnswerOf(stream).status, 200);
  EXPECT_EQ(AnswerOf(stream).fields.at("content-type"), "application/grpc");
  EXPECT_EQ(StatusOf(stream), "0");
  EXPECT_EQ(AnswerOf(stream).trailers.at("grpc-status"), "0");
  EXPECT_EQ(support::RlsOverallCode(MessageOf(stream)), 1);
  // code OK, 1000000 per MINUTE, 7 left, 60 s.
  EXPECT_EQ(MessageOf(stream),
            std::string("\x08\x01\x12\x10\x08\x01\x12\x06\x08\xc0\x84\x3d\x10\x02\x18\x07\x22\x02"
                        "\x08\x3c",
                        20));
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(CallsTest, CallsOfOneTurnAreOneBatchAndAnswersOneWrite) {
  Open();
  Exchange();
  const int before = peer_->writes();
  const auto first = AskRls(1);
  const auto second = AskRls(2);
  const auto third = Call(kCheck, Framed(CheckRequest("u", 3)));
  peer_->Send(client_->Output());
  Turn();
  EXPECT_EQ(store_.pending.size(), 3U);
  EXPECT_EQ(store_.batches, 2);  // One of each service.
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(StatusOf(first), "0");
  EXPECT_EQ(StatusOf(second), "0");
  EXPECT_EQ(StatusOf(third), "0");
  EXPECT_LE(peer_->writes() - before, 2);
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(CallsTest, AnswersLeaveAsTheyCome) {
  Open();
  const auto first = AskRls();
  const auto second = AskRls();
  Exchange();
  store_.Answer(1);
  Exchange();
  EXPECT_EQ(StatusOf(first), "");
  EXPECT_EQ(StatusOf(second), "0");
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(StatusOf(first), "0");
}

TEST_F(CallsTest, CheckIsTheServicesOwn) {
  Open();
  store_.answer_at_once = true;
  const auto stream = Call(kCheck, Framed(CheckRequest("u", 4)));
  Exchange();
  EXPECT_EQ(StatusOf(stream), "0");
  const std::string message = MessageOf(stream);
  protozero::pbf_reader response(message);
  bool allowed = false;
  std::string rule;
  std::int64_t remaining = 0;
  int decisions = 0;
  while (response.next()) {
    if (response.tag() == 1) {
      allowed = response.get_bool();
    } else if (response.tag() == 2) {
      rule = response.get_string();
    } else if (response.tag() == 5) {
      remaining = response.get_int64();
    } else {
      decisions += response.tag() == 10 ? 1 : 0;
      response.skip();
    }
  }
  EXPECT_TRUE(allowed);
  EXPECT_EQ(rule, "api");
  EXPECT_EQ(remaining, 4);
  EXPECT_EQ(decisions, 1);
}

TEST_F(CallsTest, ACheckUnderTheKillSwitchSaysSo) {
  Open();
  const auto says_so = [this] {
    const auto stream = Call(kCheck, Framed(CheckRequest("u", 4)));
    Exchange();
    const std::string message = MessageOf(stream);
    protozero::pbf_reader response(message);
    return response.next(14) && response.get_bool();
  };
  service_.SetModes({.all = rules::Mode::kOff, .by_rule = {}});
  EXPECT_TRUE(says_so());
  service_.SetModes({});
  store_.answer_at_once = true;
  EXPECT_FALSE(says_so());
}

TEST_F(CallsTest, ADenialARefusalAndWhoeverSentOneGetARequestId) {
  Open();
  store_.answer_at_once = true;
  const std::string request = Framed(CheckRequest("u", 1));
  const Client::Fields sent{{"x-request-id", "req-1"}};
  const auto allowed = Call(kCheck, request);
  const auto allowed_rls = AskRls();
  Exchange();
  EXPECT_FALSE(AnswerOf(allowed).fields.contains("x-request-id"));
  EXPECT_FALSE(AnswerOf(allowed_rls).fields.contains("x-request-id"));

  const std::string rls = Framed(support::RlsRequestMessage("d", {{.entries = {{"k", "v"}}}}, 1));
  for (const auto named : {Call(kCheck, request, sent), Call(kShouldRateLimit, rls, sent),
                           Call(kHealthCheck, Framed(""), sent), Call("/no.such/Method", "", sent),
                           Call(kCheck, Framed(CheckRequest("u", -1)), sent)}) {
    Exchange();
    EXPECT_EQ(AnswerOf(named).fields.at("x-request-id"), "req-1") << StatusOf(named);
  }

  store_.denies = true;
  for (const auto denied : {Call(kCheck, request), AskRls(), Call("/no.such/Method", ""),
                            Call(kCheck, Framed(CheckRequest("u", -1)))}) {
    Exchange();
    EXPECT_THAT(AnswerOf(denied).fields.at("x-request-id"), testing::MatchesRegex("[0-9a-f]{32}"));
  }
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(CallsTest, WhatIsWrongWithACheckIsAnInvalidArgument) {
  Open();
  store_.answer_at_once = true;
  const auto negative = Call(kCheck, Framed(CheckRequest("u", -1)));
  const auto unknown = Call(kCheck, Framed(CheckRequest("u", 1, "nope")));
  const auto garbage = Call(kCheck, Framed("\x0a\xff"));
  Exchange();
  EXPECT_EQ(StatusOf(negative), "3");
  EXPECT_EQ(StatusOf(unknown), "3");
  EXPECT_THAT(AnswerOf(unknown).fields.at("grpc-message"), testing::HasSubstr("nope"));
  EXPECT_EQ(StatusOf(garbage), "13");
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(CallsTest, RequestsMayBeGzipped) {
  Open();
  store_.answer_at_once = true;
  const std::string message = support::RlsRequestMessage("d", {{.entries = {{"k", "v"}}}});
  const auto sound =
      Call(kShouldRateLimit, Framed(Gzipped(message), true), {{"grpc-encoding", "gzip"}});
  const auto broken = Call(kShouldRateLimit, Framed(Gzipped(message).substr(0, 20), true),
                           {{"grpc-encoding", "gzip"}});
  const auto bomb = Call(kShouldRateLimit, Framed(Gzipped(std::string(10'000'000, 'x')), true),
                         {{"grpc-encoding", "gzip"}});
  const auto unsaid = Call(kShouldRateLimit, Framed(Gzipped(message), true));
  const auto unknown = Call(kShouldRateLimit, Framed(message, true), {{"grpc-encoding", "br"}});
  Exchange();
  EXPECT_EQ(StatusOf(sound), "0");
  EXPECT_EQ(StatusOf(broken), "13");
  EXPECT_EQ(StatusOf(bomb), "8");
  EXPECT_EQ(StatusOf(unsaid), "13");
  EXPECT_EQ(StatusOf(unknown), "12");
  EXPECT_EQ(AnswerOf(unknown).fields.at("grpc-accept-encoding"), "identity,gzip");
}

TEST_F(CallsTest, ACallTakenBackIsForgotten) {
  Open();
  const auto stream = AskRls();
  Exchange();
  client_->Reset(stream, 8);
  Exchange();
  EXPECT_EQ(front_end_->exchanges_in_use(), 1U);  // The store has it.
  store_.AnswerAll();
  Exchange();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
  store_.answer_at_once = true;
  const auto next = AskRls();
  Exchange();
  EXPECT_EQ(StatusOf(next), "0");
}

TEST_F(CallsTest, AConnectionThatVanishesAbandonsWhatItAsked) {
  Open();
  (void)AskRls();
  (void)AskRls();
  Exchange();
  peer_->Vanish();
  Turn();
  EXPECT_EQ(front_end_->connections(), 0U);
  store_.AnswerAll();
  Turn();
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(CallsTest, ADeadlineGoesToTheStoreAndOneThatIsOverIsNotAsked) {
  Open();
  const std::string body = Framed(support::RlsRequestMessage("d", {{.entries = {{"k", "v"}}}}));
  (void)Call(kShouldRateLimit, body, {{"grpc-timeout", "20m"}});
  const auto over = Call(kShouldRateLimit, body, {{"grpc-timeout", "0n"}});
  const auto malformed = Call(kShouldRateLimit, body, {{"grpc-timeout", "20"}});
  const auto now = std::chrono::steady_clock::now();
  Exchange();
  ASSERT_EQ(store_.pending.size(), 1U);
  EXPECT_GT(store_.pending[0]->deadline, now);
  EXPECT_LT(store_.pending[0]->deadline, now + std::chrono::seconds(10));
  EXPECT_EQ(StatusOf(over), "4");
  EXPECT_EQ(StatusOf(malformed), "13");
  store_.AnswerAll();
  Exchange();
}

TEST_F(CallsTest, AServiceErrorHasTheOldCodeAndText) {
  Open();
  const auto stream = Call(kShouldRateLimit, Framed(support::RlsRequestMessage("", {})));
  Exchange();
  EXPECT_EQ(StatusOf(stream), "2");
  EXPECT_EQ(AnswerOf(stream).fields.at("grpc-message"), "rate limit domain must not be empty");
}

TEST_F(CallsTest, WithOurOwnSemanticsErrorsHaveCodesThatSayWhatTheyAre) {
  Open({}, {.compatible = false});
  const auto stream = Call(kShouldRateLimit, Framed(support::RlsRequestMessage("", {})));
  Exchange();
  EXPECT_EQ(StatusOf(stream), "3");
}

}  // namespace
}  // namespace sluice::frontend::grpc
