#include "frontend/answer_log.h"

#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/answer_counts.h"

namespace sluice::frontend {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AnswerLogTest : public testing::Test {
 protected:
  std::vector<std::string> lines_;
  AnswerLog log_{[this](const AnswerLog::Line& line) {
    lines_.push_back(fmt::format("{} {} {} {}", line.status, line.peer, line.detail, line.others));
  }};
};

TEST_F(AnswerLogTest, WritesALineForEachStatusAndMinuteWithTheNumberOfOthers) {
  const Duration start = seconds(1000);
  for (int i = 0; i < 100; ++i) {
    log_.Note(start + i * seconds(1) / 2, 401, "10.0.0.1", "no token");
  }
  log_.Note(start, 404, "10.0.0.2", "no such path");
  EXPECT_THAT(lines_, ElementsAre("401 10.0.0.1 no token 0", "404 10.0.0.2 no such path 0"));
  log_.Note(start + seconds(60), 401, "10.0.0.3", "no token");
  EXPECT_THAT(lines_.back(), "401 10.0.0.3 no token 99");
  log_.Note(start + seconds(120), 401, "10.0.0.3", "no token");
  EXPECT_THAT(lines_.back(), "401 10.0.0.3 no token 0");
}

TEST_F(AnswerLogTest, AnOrdinaryAnswerIsNoRefusal) {
  for (const int status : {200, 204, 302, 408, 409, 412, 422, 429}) {
    EXPECT_FALSE(AnswerLog::IsRefusal(status)) << status;
  }
  for (const int status : {400, 401, 403, 404, 405, 413, 415, 431, 500, 503}) {
    EXPECT_TRUE(AnswerLog::IsRefusal(status)) << status;
  }
}

TEST(AnswerCountsTest, SumsTheLoopsOfEachListenerByStatus) {
  AnswerCounts counts(Protocol::kHttp);
  LoopAnswers& one = counts.Add("127.0.0.1:8080");
  LoopAnswers& two = counts.Add("127.0.0.1:8080");
  LoopAnswers& admin = counts.Add("127.0.0.1:6070");
  std::thread other([&two] {
    for (int i = 0; i < 1000; ++i) {
      two.Count(404);
    }
  });
  one.Count(404);
  one.Count(431);
  admin.Count(200);
  other.join();
  std::string text;
  telemetry::PrometheusText exposition(text);
  counts.Write(exposition);
  EXPECT_THAT(
      text,
      HasSubstr("sluice_http_requests_total{listener=\"127.0.0.1:8080\",status=\"404\"} 1001\n"));
  EXPECT_THAT(text, HasSubstr("{listener=\"127.0.0.1:8080\",status=\"431\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{listener=\"127.0.0.1:6070\",status=\"200\"} 1\n"));
  // At 0 from the start, so that the first one shows as a rise.
  EXPECT_THAT(text, HasSubstr("{listener=\"127.0.0.1:6070\",status=\"401\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("{listener=\"127.0.0.1:6070\",status=\"431\"}")));
}

TEST(AnswerCountsTest, EachProtocolHasItsOwnFamily) {
  AnswerCounts grpc(Protocol::kGrpc);
  grpc.Add("127.0.0.1:8081").Count(16);
  AnswerCounts resp(Protocol::kResp);
  resp.Add("127.0.0.1:6380").Count(AnswerCounts::kRespError);
  AnswerCounts unused(Protocol::kHttp);
  std::string text;
  telemetry::PrometheusText exposition(text);
  grpc.Write(exposition);
  resp.Write(exposition);
  unused.Write(exposition);
  EXPECT_THAT(text,
              HasSubstr("sluice_grpc_calls_total{listener=\"127.0.0.1:8081\",code=\"16\"} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("sluice_grpc_calls_total{listener=\"127.0.0.1:8081\",code=\"0\"} 0\n"));
  EXPECT_THAT(
      text, HasSubstr("sluice_resp_commands_total{listener=\"127.0.0.1:6380\",result=\"ok\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("result=\"error\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("sluice_http")));
}

}  // namespace
}  // namespace sluice::frontend
