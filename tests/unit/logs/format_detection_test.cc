#include "logs/format_detection.h"

#include <string>
#include <utility>
#include <vector>

#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class FormatDetectionTest : public ParserTest {
 protected:
  std::string Detect(std::string_view head) {
    const auto format =
        DetectFormat(head, {.stamps = &utc_, .utc = &utc_, .wanted = &wanted_, .time = time_});
    return format ? std::string(TitleOf(*format)) : "none";
  }
  std::vector<std::string> wanted_;
  TimeColumn time_;
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

TEST_F(FormatDetectionTest, FindsEachFormatInEachWrapping) {
  const std::vector<std::pair<std::string, std::string>> formats{
      {"192.0.2.1 - - [10/Mar/2025:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12",
       "common or combined"},
      {"h1.example - - [10/Mar/2025:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12",
       "common or combined"},
      {"a.example:80 192.0.2.1 - - [10/Mar/2025:10:00:00 +0000] \"GET / HTTP/1.1\" 200 12",
       "vhost_combined"},
      {"{\"ts\": 1741600800, \"request\": {\"remote_ip\": \"192.0.2.1\"}}", "JSON lines"},
      {"{\"ts\": 1741600800, \"user\": \"u1\"}", "JSON lines"},
      {"[2025-03-10T10:00:00.310Z] \"GET /api HTTP/2\" 200 - 154 0 226 100 \"192.0.2.1\" \"curl\" "
       "\"cc21\" \"api\" \"10.0.0.1:80\"",
       "Envoy text"},
      {"2025-03-10T10:00:00.4Z lb 192.0.2.1:63235 10.0.0.1:9000 0.1 0.2 0.3 200 200 0 0 \"GET "
       "http://www.example.com:80/ HTTP/1.1\" \"curl\" - -",
       "AWS classic ELB"},
  };
  const auto in_json = [](const std::string& line) {
    std::string text = "{\"log\": \"";
    for (const char c : line) {
      text += c == '"' ? "\\\"" : std::string(1, c);
    }
    return text + "\\n\", \"stream\": \"stdout\", \"time\": \"2025-03-10T10:00:00.5Z\"}";
  };
  for (const auto& [line, title] : formats) {
    EXPECT_EQ(Detect(line + "\n"), title);
    EXPECT_EQ(Detect(in_json(line) + "\n"), title + " in JSON text") << line;
    for (const auto& [before, wrapping] : std::vector<std::pair<std::string, std::string>>{
             {"Mar 10 10:00:00 web1 nginx: ", "syslog"},
             {"<190>1 2025-03-10T10:00:00Z web1 nginx 12 access - ", "syslog"},
             {"2025-03-10T10:00:00.000000000Z stdout F ", "Kubernetes CRI"},
             {"web-1  | ", "container names"},
             {"[pod/web-0/nginx] ", "pod names"},
             {"2025-03-10T10:00:00.000000000Z ", "timestamps"},
             {"web-1  | 2025-03-10T10:00:00.000000000Z ", "timestamps, container names"},
             {"[pod/web-0/nginx] 2025-03-10T10:00:00.000000000Z ", "timestamps, pod names"}}) {
      EXPECT_EQ(Detect(before + line + "\n" + before + line + "\n"), title + " in " + wrapping)
          << before << line;
    }
  }
}

TEST_F(FormatDetectionTest, HaproxysLineIsFoundBehindAnything) {
  const std::string line =
      "192.0.2.1:42617 [02/Feb/2012:04:05:24.385] fe1 be1/<NOSRV> -1/-1/-1/-1/12 401 262 - - PR-- "
      "0/0/0/0/0 0/0 \"GET /x HTTP/1.1\"\n";
  for (const std::string before : {"", "Feb  2 04:05:24 lb haproxy[9883]: ", "lb-1  | "}) {
    EXPECT_EQ(Detect(before + line).substr(0, 12), "HAProxy HTTP") << before;
  }
}

TEST_F(FormatDetectionTest, WrappedHeadersNameTheirColumns) {
  EXPECT_EQ(Detect("web-1  | ts,ip\nweb-1  | 1700158623,192.0.2.1\n"), "CSV in container names");
  EXPECT_EQ(Detect("web-1  | #Fields: date time c-ip\nweb-1  | 2002-05-24 20:18:01 192.0.2.1\n"),
            "W3C in container names");
}

TEST_F(FormatDetectionTest, HeedsTheNameOfTheTime) {
  time_ = {.name = "gmt_create"};
  EXPECT_EQ(Detect("gmt_create,status\n2025-03-10 10:00:00,ok\n"), "CSV");
  EXPECT_EQ(Detect("gmt_create\tstatus\n2025-03-10 10:00:00\tok\n"), "TSV");
  EXPECT_EQ(Detect("{\"gmt_create\": \"2025-03-10 10:00:00\", \"status\": \"ok\"}\n"),
            "JSON lines");
  EXPECT_EQ(Detect("#Fields: gmt_create status\n1741600800 ok\n"), "W3C");
  EXPECT_EQ(Detect("ts,status\n2025-03-10 10:00:00,ok\n"), "none");
}

TEST_F(FormatDetectionTest, NamesForeignEncodings) {
  using namespace std::string_view_literals;
  EXPECT_EQ(ForeignEncoding("\xFF\xFE"
                            "1\0"sv),
            "UTF-16");
  EXPECT_EQ(ForeignEncoding("\xFE\xFF\0"
                            "1"sv),
            "UTF-16");
  EXPECT_EQ(ForeignEncoding("\xFF\xFE\0\0"
                            "1\0\0\0"sv),
            "UTF-32");
  EXPECT_EQ(ForeignEncoding("1\0"
                            "9\0"
                            "2\0.\0"sv),
            "UTF-16");
  EXPECT_EQ(ForeignEncoding("\0"
                            "1\0"
                            "9\0"
                            "2\0."sv),
            "UTF-16");
  EXPECT_EQ(ForeignEncoding("\xEF\xBB\xBF{\"ts\": 1}"), "");
  EXPECT_EQ(ForeignEncoding("192.0.2.1 - -"), "");
  EXPECT_EQ(ForeignEncoding(""), "");
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
