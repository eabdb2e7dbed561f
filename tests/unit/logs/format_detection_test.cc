#include "logs/format_detection.h"

#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class FormatDetectionTest : public ParserTest {
 protected:
  std::string Detect(std::string_view head) {
    const auto format =
        DetectFormat(head, {.stamps = &utc_, .utc = &utc_, .wanted = &wanted_, .column_names = {}});
    return format ? std::string(TitleOf(*format)) : "none";
  }
  std::vector<std::string> wanted_;
};

TEST_F(FormatDetectionTest, TellsFormatsApart) {
  EXPECT_EQ(Detect("192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 5\n"),
            "common or combined");
  EXPECT_EQ(Detect("192.0.2.1 - a b [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 5\n"),
            "common or combined");
  EXPECT_EQ(Detect("h1.example - - [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 5\n"),
            "common or combined");
  EXPECT_EQ(
      Detect("a.example:80 192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 5\n"),
      "vhost_combined");
  EXPECT_EQ(
      Detect("a.example:80 h1.example - - [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 "
             "5\n"),
      "vhost_combined");
  EXPECT_EQ(Detect("Feb  2 04:05:24 127.0.0.1 haproxy[9883]: 192.0.2.1:42617 "
                   "[02/Feb/2012:04:05:24.385] fe1 be1/<NOSRV> -1/-1/-1/-1/12 401 262 - - PR-- "
                   "0/0/0/0/0 0/0 \"GET /x HTTP/1.1\"\n"),
            "HAProxy HTTP");
  EXPECT_EQ(Detect("TIMESTAMP,Tokens\r\n2023-11-16 18:17:03.97,4808\r\n"), "CSV");
  EXPECT_EQ(Detect("ts;ip\n1700158623;192.0.2.1\n"), "CSV");
  EXPECT_EQ(Detect("ts\tip\n1700158623\t192.0.2.1\n"), "TSV");
  EXPECT_EQ(Detect("{\"ts\":1700158623.5,\"request\":{\"remote_ip\":\"192.0.2.1\"}}\n"),
            "JSON lines");
  EXPECT_EQ(Detect("#Software: IIS\n#Fields: date time c-ip\n2002-05-24 20:18:01 192.0.2.1\n"),
            "W3C");
}

TEST_F(FormatDetectionTest, FewGoodLinesAmongManyBadOnesAreNoFormat) {
  EXPECT_EQ(
      Detect("x\ny\nz\n192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 5\n"),
      "none");
  EXPECT_EQ(Detect("bad\n192.0.2.1 - - [17/Dec/2025:09:03:01 +0000] \"GET / HTTP/1.1\" 200 5\n"),
            "common or combined");
}

}  // namespace
}  // namespace sluice::logs
