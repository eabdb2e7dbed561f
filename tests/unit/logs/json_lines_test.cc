#include "logs/line_parser.h"
#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class JsonLinesTest : public ParserTest {
 protected:
  std::vector<std::string> wanted_{"request.tls.proto", "tenant", "tags"};
  JsonLinesParser parser_{Columns(wanted_)};
};

TEST_F(JsonLinesTest, ReadsCaddys) {
  ASSERT_EQ(
      parser_.Parse(
          R"({"level":"info","ts":1646861401.5241024,"logger":"http.log.access",)"
          R"("request":{"remote_ip":"10.0.0.1","client_ip":"192.0.2.4","remote_port":"4","proto":)"
          R"("HTTP/2.0","method":"GET","host":"a.example:8443","uri":"/x?y","headers":)"
          R"({"User-Agent":["curl/7.82.0","second"],"Accept":["*/*"]},"tls":{"proto":"h2"}},)"
          R"("user_id":"bob","duration":0.0009,"size":10900,"status":200})",
          record_),
      LineKind::kRequest)
      << parser_.problem();
  EXPECT_EQ(MsOf(record_.at), 1'646'861'401'524);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.4");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kHost), "a.example");
  EXPECT_EQ(Get(Field::kEndpoint), "/x");
  EXPECT_EQ(Get(Field::kUserAgent), "curl/7.82.0");
  EXPECT_EQ(Get(Field::kStatus), "200");
  EXPECT_EQ(Get(Field::kUser), "bob");
  EXPECT_EQ(Get(Field::kProtocol), "HTTP/2.0");
  EXPECT_EQ(Column(0), "h2");
}

TEST_F(JsonLinesTest, ReadsTraefiks) {
  ASSERT_EQ(
      parser_.Parse(
          R"({"ClientAddr":"192.0.2.4:1234","ClientHost":"192.0.2.4","ClientUsername":"-",)"
          R"("DownstreamStatus":404,"OriginStatus":0,"RequestHost":"b.example","RequestMethod":)"
          R"("PUT","RequestPath":"/p","StartUTC":"2022-03-09T21:30:01.5Z","StartLocal":)"
          R"("2022-03-09T22:30:01.5+01:00","request_User-Agent":"ua"})",
          record_),
      LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'646'861'401'500);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.4");
  EXPECT_EQ(Get(Field::kStatus), "404");
  EXPECT_EQ(Get(Field::kUser), "-");
  EXPECT_EQ(Get(Field::kUserAgent), "ua");
}

TEST_F(JsonLinesTest, ReadsEnvoys) {
  ASSERT_EQ(parser_.Parse(
                R"({"start_time":"2022-03-09T21:30:01.524Z","method":"POST","path":"/new",)"
                R"("x_envoy_original_path":"/old?q","protocol":"HTTP/1.1","response_code":503,)"
                R"("downstream_remote_address":"192.0.2.8:999","downstream_direct_remote_address":)"
                R"("10.0.0.1:4","authority":"c.example","bytes_sent":12,"user_agent":null})",
                record_),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.8");
  EXPECT_EQ(Get(Field::kPath), "/old?q");
  EXPECT_EQ(Get(Field::kStatus), "503");
  EXPECT_EQ(Get(Field::kUserAgent), "-");
  EXPECT_EQ(Get(Field::kHost), "c.example");
}

TEST_F(JsonLinesTest, ReadsALoadBalancersRequestLine) {
  ASSERT_EQ(
      parser_.Parse(
          R"({"type":"https","time":"2022-03-09T21:30:01.524Z","client:port":"192.0.2.9:2817",)"
          R"("elb_status_code":"200","request":"GET https://d.example:443/z?k HTTP/2.0"})",
          record_),
      LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.9");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kHost), "d.example");
  EXPECT_EQ(Get(Field::kEndpoint), "/z");
  EXPECT_EQ(Get(Field::kStatus), "200");
}

TEST_F(JsonLinesTest, DecodesTextsAndTakesAnArraysFirst) {
  ASSERT_EQ(
      parser_.Parse(R"({"time":1700158623,"tenant":"a\u00e9\"b","tags":[{"a":["x"]},7,["8"]],)"
                    R"("method":"GET"})",
                    record_),
      LineKind::kRequest);
  EXPECT_EQ(Column(1), "a\xC3\xA9\"b");
  EXPECT_EQ(Column(2), "-");  // Its first is an object: tags.a.
  EXPECT_EQ(Get(Field::kMethod), "GET");
}

TEST_F(JsonLinesTest, OneLineLeavesNothingForTheNext) {
  ASSERT_EQ(parser_.Parse(R"({"time":1700158623,"tenant":"a","ip":"192.0.2.1"})", record_),
            LineKind::kRequest);
  EXPECT_EQ(parser_.Parse(R"({"time":1700158623,"tenant":"b","x":{"y":)", record_), LineKind::kBad);
  ASSERT_EQ(parser_.Parse(R"({"time":1700158624})", record_), LineKind::kRequest);
  EXPECT_EQ(Column(1), "-");
  EXPECT_EQ(Get(Field::kIp), "-");
}

TEST_F(JsonLinesTest, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(parser_.Parse("[1]", record_), LineKind::kBad);
  EXPECT_EQ(parser_.problem(), "not a JSON object");
  EXPECT_EQ(parser_.Parse(R"({"time":1700158623} x)", record_), LineKind::kBad);
  EXPECT_EQ(parser_.problem(), "not a complete JSON object");
  EXPECT_EQ(parser_.Parse(R"({"ip":"192.0.2.1"})", record_), LineKind::kBad);
  EXPECT_EQ(parser_.problem(), "no time");
  EXPECT_EQ(parser_.Parse("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}", record_),
            LineKind::kBad);
  EXPECT_EQ(parser_.Parse("", record_), LineKind::kOther);
}

}  // namespace
}  // namespace sluice::logs
