#include "logs/line_parser.h"
#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class W3cTest : public ParserTest {
 protected:
  std::vector<std::string> wanted_{"time-taken"};
  W3cParser parser_{Columns(wanted_)};
};

TEST_F(W3cTest, ReadsIissAndFollowsItsFieldsWhenTheyChange) {
  EXPECT_EQ(parser_.Parse("#Software: Microsoft Internet Information Services 10.0", record_),
            LineKind::kOther);
  EXPECT_EQ(parser_.Parse("#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port "
                          "cs-username c-ip cs(User-Agent) sc-status time-taken",
                          record_),
            LineKind::kOther);
  ASSERT_EQ(parser_.Parse("2002-05-24 20:18:01 172.30.255.255 GET /images/a.gif q=1 80 - "
                          "192.0.2.1 Mozilla/4.0+(X) 200 15",
                          record_),
            LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'022'271'481'000);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kPath), "/images/a.gif?q=1");
  EXPECT_EQ(Get(Field::kEndpoint), "/images/a.gif");
  EXPECT_EQ(Get(Field::kUser), "-");
  EXPECT_EQ(Get(Field::kUserAgent), "Mozilla/4.0+(X)");
  EXPECT_EQ(Column(0), "15");

  EXPECT_EQ(parser_.Parse("#Fields: date time c-ip sc-status", record_), LineKind::kOther);
  ASSERT_EQ(parser_.Parse("2002-05-24 20:18:02 192.0.2.2 404", record_), LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.2");
  EXPECT_EQ(Get(Field::kStatus), "404");
  EXPECT_EQ(Get(Field::kPath), "-");
}

TEST_F(W3cTest, TakesTheDayFromTheDateDirective) {
  EXPECT_EQ(parser_.Parse("#Date: 2002-05-24 20:18:00", record_), LineKind::kOther);
  EXPECT_EQ(parser_.Parse("#Fields: time c-ip", record_), LineKind::kOther);
  ASSERT_EQ(parser_.Parse("20:18:01 192.0.2.1", record_), LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'022'271'481'000);
}

TEST_F(W3cTest, ReadsColumnsBetweenTabs) {
  EXPECT_EQ(
      parser_.Parse("#Fields: date time c-ip cs-method cs(Host) cs-uri-stem sc-status", record_),
      LineKind::kOther);
  ASSERT_EQ(
      parser_.Parse("2019-12-04\t21:02:31\t192.0.2.1\tGET\td1.example\t/index.html\t200", record_),
      LineKind::kRequest);
  EXPECT_EQ(Get(Field::kHost), "d1.example");
}

TEST_F(W3cTest, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(parser_.Parse("2002-05-24 20:18:02 192.0.2.2", record_), LineKind::kBad);
  EXPECT_EQ(parser_.problem(), "no #Fields line before it, so its columns are unknown");
  EXPECT_EQ(parser_.Parse("#Fields: date time c-ip", record_), LineKind::kOther);
  EXPECT_EQ(parser_.Parse("2002-05-24 20:18:02", record_), LineKind::kBad);
  EXPECT_EQ(parser_.Parse("2002-05-24 20:18:02 192.0.2.2 x", record_), LineKind::kBad);
  EXPECT_EQ(parser_.problem(), "it has more or fewer columns than #Fields");
}

TEST_F(W3cTest, ReadsCloudFrontsLinesWithAndWithoutTheirHeader) {
  const std::string line =
      "2019-12-04\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td111.cloudfront.net\t/"
      "index.html\t200\t-\t"
      "Mozilla/"
      "5.0%20(X)\ta=b\t-\tHit\tSOX4xwn4XV6Q4rg==\tshop.example\thttps\t23\t0.001\t-\tTLSv1.2\t"
      "ECDHE-RSA\tHit\tHTTP/2.0\t-\t-\t11040\t0.001\tHit\ttext/html\t78\t-\t-";
  ASSERT_EQ(parser_.Parse(line, record_), LineKind::kRequest) << parser_.problem();
  EXPECT_EQ(MsOf(record_.at), 1'575'493'351'000);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.100");
  EXPECT_EQ(Get(Field::kPath), "/index.html?a=b");
  EXPECT_EQ(Get(Field::kHost), "shop.example");  // The viewer's, not the distribution's.
  EXPECT_EQ(Get(Field::kStatus), "200");
}

}  // namespace
}  // namespace sluice::logs
