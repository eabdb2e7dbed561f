#include "logs/line_parser.h"
#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class ClfTest : public ParserTest {
 protected:
  LineKind Parse(std::string_view line) {
    ClfParser parser(utc_, /*vhost=*/false);
    const LineKind kind = parser.Parse(line, record_);
    problem_ = parser.problem();
    return kind;
  }
  std::string problem_;
};

TEST_F(ClfTest, ReadsTheCommonFormat) {
  ASSERT_EQ(Parse("198.51.100.7 - - [09/Jul/1995:00:00:07 -0400] \"GET /a.gif HTTP/1.0\" 200 363"),
            LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 805'262'407'000);
  EXPECT_EQ(Get(Field::kIp), "198.51.100.7");
  EXPECT_EQ(Get(Field::kClient), "198.51.100.7");
  EXPECT_EQ(Get(Field::kUser), "-");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kPath), "/a.gif");
  EXPECT_EQ(Get(Field::kProtocol), "HTTP/1.0");
  EXPECT_EQ(Get(Field::kStatus), "200");
  EXPECT_EQ(Get(Field::kBytes), "363");
  EXPECT_EQ(Get(Field::kUserAgent), "-");
}

TEST_F(ClfTest, ReadsTheCombinedFormatAndAForwardedFor) {
  ASSERT_EQ(Parse("2001:db8::1 - alice b [17/Dec/2025:09:03:01 +0000] \"POST /v1/x?a=1&b=2 "
                  "HTTP/1.1\" 502 - \"http://r.example/\" \"Agent \\\"7\\\" (X)\" "
                  "\"203.0.113.9, 10.0.0.1\" 0.004"),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "2001:db8::1");
  EXPECT_EQ(Get(Field::kUser), "alice b");
  EXPECT_EQ(Get(Field::kPath), "/v1/x?a=1&b=2");
  EXPECT_EQ(Get(Field::kEndpoint), "/v1/x");
  EXPECT_EQ(Get(Field::kBytes), "0");
  EXPECT_EQ(Get(Field::kReferer), "http://r.example/");
  EXPECT_EQ(Get(Field::kUserAgent), "Agent \\\"7\\\" (X)");
  EXPECT_EQ(Get(Field::kForwardedFor), "203.0.113.9");
}

TEST_F(ClfTest, ReadsTheVirtualHostBeforeAll) {
  ClfParser parser(utc_, /*vhost=*/true);
  ASSERT_EQ(parser.Parse("shop.example:443 192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET / "
                         "HTTP/2.0\" 200 5 \"-\" \"-\"",
                         record_),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kHost), "shop.example");
  EXPECT_EQ(Get(Field::kPort), "443");
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
}

TEST_F(ClfTest, AClientThatIsAHostNameIsNoIp) {
  ASSERT_EQ(Parse("h1.d1.example - - [09/Jul/1995:00:00:00 -0400] \"GET / HTTP/1.0\" 200 1"),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "-");
  EXPECT_EQ(Get(Field::kClient), "h1.d1.example");
}

TEST_F(ClfTest, ARequestThatIsNoneIsStillCounted) {
  ASSERT_EQ(
      Parse("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"\\x16\\x03\\x01\" 400 166 \"-\" \"-\""),
      LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kMethod), "-");
  EXPECT_EQ(Get(Field::kPath), "-");
  EXPECT_EQ(Get(Field::kStatus), "400");
  ASSERT_EQ(Parse("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"\" 400 0 \"-\" \"-\""),
            LineKind::kRequest);
}

TEST_F(ClfTest, AnAbsoluteTargetNamesItsHost) {
  ASSERT_EQ(Parse("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET http://a.example:8080/b?c "
                  "HTTP/1.1\" 200 1"),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kHost), "a.example");
  EXPECT_EQ(Get(Field::kPath), "/b?c");
  EXPECT_EQ(Get(Field::kEndpoint), "/b");
  ASSERT_EQ(Parse("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET /r?u=http://b.example/ "
                  "HTTP/1.1\" 200 1"),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kHost), "-");
  EXPECT_EQ(Get(Field::kEndpoint), "/r");
}

TEST_F(ClfTest, WhatALogShipperWroteIsNoClient) {
  for (const std::string_view before :
       {"Mar 10 10:00:00 web1 nginx: ", "web-1  | ", "nginx: ", "X - ", "2025-03-10T10:00:00.1Z ",
        "2025-03-10T10:00:00+00:00 ", "[pod/web-0/nginx] ", "{\"log\": \"", "a b c d e "}) {
    EXPECT_EQ(Parse(std::string(before) +
                    "192.0.2.1 - - [10/Mar/2025:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12"),
              LineKind::kBad)
        << before;
    ClfParser vhost(utc_, /*vhost=*/true);
    EXPECT_TRUE(vhost.Parse(std::string(before) +
                                "192.0.2.1 - - [10/Mar/2025:10:00:00 +0000] \"GET / "
                                "HTTP/1.1\" 200 12",
                            record_) == LineKind::kBad)
        << before;
  }
  ASSERT_EQ(Parse("192.0.2.1 ident alice [10/Mar/2025:10:00:00 +0000] \"GET / HTTP/1.1\" 200 1"),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kUser), "alice");
}

TEST_F(ClfTest, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(Parse("no log at all"), LineKind::kBad);
  EXPECT_EQ(problem_, "no [time]");
  EXPECT_EQ(Parse("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000"), LineKind::kBad);
  EXPECT_EQ(problem_, "no ] after the time");
  EXPECT_EQ(Parse("192.0.2.1 - - [yesterday] \"GET / HTTP/1.1\" 200 1"), LineKind::kBad);
  EXPECT_EQ(problem_, "the time cannot be read");
  EXPECT_EQ(Parse("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET / HT"), LineKind::kBad);
  EXPECT_EQ(problem_, "no \"request\" after the time");
  EXPECT_EQ(Parse(" [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 1"), LineKind::kBad);
  EXPECT_EQ(problem_, "no client");
  EXPECT_EQ(Parse(""), LineKind::kOther);
}

}  // namespace
}  // namespace sluice::logs
