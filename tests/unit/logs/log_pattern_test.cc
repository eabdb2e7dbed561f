#include "logs/log_pattern.h"

#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class LogPatternTest : public ParserTest {
 protected:
  LineKind Parse(PatternParser::Layout layout, std::string_view line, TimeColumn time = {}) {
    PatternParser parser(Columns(wanted_, std::move(time)), std::move(layout));
    const LineKind kind = parser.Parse(line, record_);
    problem_ = parser.problem();
    return kind;
  }
  LineKind Parse(std::string_view pattern, std::string_view line, TimeColumn time = {}) {
    auto parsed = LogPattern::Parse(pattern);
    EXPECT_TRUE(parsed);
    return Parse(PatternParser::Layout{.pattern = *parsed}, line, std::move(time));
  }
  std::vector<std::string> wanted_{"tenant", "trace_id"};
  std::string problem_;
};

TEST_F(LogPatternTest, ReadsALogFormatOfNginx) {
  ASSERT_EQ(Parse("$remote_addr - $remote_user [$time_local] $tenant \"$request\" $status "
                  "\"$http_user_agent\" $request_time",
                  "192.0.2.1 - a b [17/Dec/2025:09:03:01 +0000] acme \"GET /x?y HTTP/1.1\" 200 "
                  "\"an \\\" agent\" 0.004 and more"),
            LineKind::kRequest)
      << problem_;
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kUser), "a b");
  EXPECT_EQ(MsOf(record_.at), 1'765'962'181'000);
  EXPECT_EQ(Column(0), "acme");
  EXPECT_EQ(Get(Field::kEndpoint), "/x");
  EXPECT_EQ(Get(Field::kStatus), "200");
  EXPECT_EQ(Get(Field::kUserAgent), "an \\\" agent");
}

TEST_F(LogPatternTest, ReadsTabsBracesAndANamedTime) {
  ASSERT_EQ(Parse("${tenant}\\t$when\\t$remote_addr", "acme\t1500\t192.0.2.1",
                  {.name = "when", .unit = std::chrono::milliseconds(1)}),
            LineKind::kRequest)
      << problem_;
  EXPECT_EQ(MsOf(record_.at), 1'500);
  EXPECT_EQ(Column(0), "acme");
}

TEST_F(LogPatternTest, RefusesAPatternThatCannotBeRead) {
  for (const std::string_view bad : {"", "no variable", "$a$b", "${a", "$", "$a $-b"}) {
    EXPECT_FALSE(LogPattern::Parse(bad)) << bad;
  }
}

TEST_F(LogPatternTest, ALineThatIsLaidOutOtherwiseIsBad) {
  for (const std::string_view bad :
       {"x 192.0.2.1 [17/Dec/2025:09:03:01 +0000]", "192.0.2.1 17/Dec/2025:09:03:01 +0000",
        "192.0.2.1 [yesterday]", "192.0.2.1"}) {
    EXPECT_EQ(Parse("$remote_addr [$time_local]", bad), LineKind::kBad) << bad;
    EXPECT_NE(problem_, "");
  }
  EXPECT_EQ(Parse("$remote_addr [$time_local]", ""), LineKind::kOther);
}

constexpr std::string_view kAlbLine =
    R"(h2 2025-03-10T10:00:09.5Z app/lb/49 192.0.2.1:44740 10.0.0.1:80 0.0 0.1 0.0 200 204 34 366 )"
    R"("GET https://www.example.com:443/a?b HTTP/2.0" "curl/8.4" ECDHE TLSv1.2 arn:aws:x "Root=1" )"
    R"("www.example.com" "-" 0 2025-03-10T10:00:00.25Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-")";

TEST_F(LogPatternTest, ReadsAnApplicationLoadBalancersLine) {
  ASSERT_EQ(Parse(AlbLayout(), kAlbLine), LineKind::kRequest) << problem_;
  EXPECT_EQ(MsOf(record_.at), 1'741'600'800'250);  // When the request came, not when it was over.
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kPath), "/a?b");
  EXPECT_EQ(Get(Field::kHost), "www.example.com");
  EXPECT_EQ(Get(Field::kStatus), "200");
  EXPECT_EQ(Get(Field::kUserAgent), "curl/8.4");
  EXPECT_EQ(Column(1), "Root=1");
}

TEST_F(LogPatternTest, ReadsOlderAndCutOffLinesOfLoadBalancers) {
  const std::string_view old = kAlbLine.substr(0, kAlbLine.find(" arn:"));
  ASSERT_EQ(Parse(AlbLayout(), old), LineKind::kRequest) << problem_;
  EXPECT_EQ(MsOf(record_.at), 1'741'600'809'500);
  EXPECT_EQ(Parse(AlbLayout(), kAlbLine.substr(0, kAlbLine.find(" \"GET"))), LineKind::kBad);
  constexpr std::string_view kElb =
      R"(2025-03-10T10:00:00.4Z lb 2001:db8::1:63235 10.0.0.1:9000 0.1 0.2 0.3 200 200 0 0 )"
      R"("GET http://www.example.com:80/ HTTP/1.1")";
  ASSERT_EQ(Parse(ClassicElbLayout(), kElb), LineKind::kRequest) << problem_;
  EXPECT_EQ(Get(Field::kIp), "2001:db8::1");
  EXPECT_EQ(Get(Field::kHost), "www.example.com");
  const std::string with_agent = std::string(kElb) + " \"curl/8.4\" - -";
  ASSERT_EQ(Parse(ClassicElbLayout(), with_agent), LineKind::kRequest);
  EXPECT_EQ(Get(Field::kUserAgent), "curl/8.4");
}

TEST_F(LogPatternTest, ReadsEnvoysAndIstiosText) {
  ASSERT_EQ(Parse(EnvoyLayout(),
                  R"([2025-03-10T10:00:00.310Z] "GET /api?x HTTP/2" 429 RL 154 0 226 - )"
                  R"("192.0.2.1, 10.0.0.9" "curl/8.4" "cc21" "api.example:8080" "10.0.0.1:80")"),
            LineKind::kRequest)
      << problem_;
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kForwardedFor), "192.0.2.1");
  EXPECT_EQ(Get(Field::kEndpoint), "/api");
  EXPECT_EQ(Get(Field::kStatus), "429");
  EXPECT_EQ(Get(Field::kHost), "api.example");
  EXPECT_EQ(Get(Field::kDurationMs), "226");
  constexpr std::string_view kIstio =
      R"([2025-03-10T10:00:00.310Z] "GET /api HTTP/1.1" 200 - via_upstream - "-" 0 154 4 3 "-" )"
      R"("curl/8.4" "cc21" "api.example:8000" "10.0.0.1:80" outbound|8000||api 10.0.0.2:4711 )"
      R"(10.0.0.3:80 192.0.2.7:5000 - default)";
  ASSERT_EQ(Parse(IstioLayout(), kIstio), LineKind::kRequest) << problem_;
  EXPECT_EQ(Get(Field::kIp), "192.0.2.7");
  EXPECT_EQ(Get(Field::kUserAgent), "curl/8.4");
  EXPECT_EQ(Parse(EnvoyLayout(), kIstio), LineKind::kBad);
}

}  // namespace
}  // namespace sluice::logs
