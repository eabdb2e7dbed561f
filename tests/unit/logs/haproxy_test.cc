#include "logs/line_parser.h"
#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class HaproxyTest : public ParserTest {
 protected:
  HaproxyParser parser_{utc_};
};

TEST_F(HaproxyTest, ReadsAnHttpLineBehindSyslogsHeader) {
  ASSERT_EQ(parser_.Parse("Feb  2 04:05:25 127.0.0.1 haproxy[9883]: 192.0.2.9:42619 "
                          "[02/Feb/2012:04:05:25.657] fe1~ be1/srv1 0/0/0/1/+4 404 638 - - CD-- "
                          "0/0/0/0/0 0/0 {agent|x} \"GET /a?b HTTP/1.0\"",
                          record_),
            LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'328'155'525'657);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.9");
  EXPECT_EQ(Get(Field::kFrontend), "fe1");
  EXPECT_EQ(Get(Field::kBackend), "be1");
  EXPECT_EQ(Get(Field::kServer), "srv1");
  EXPECT_EQ(Get(Field::kDurationMs), "4");
  EXPECT_EQ(Get(Field::kStatus), "404");
  EXPECT_EQ(Get(Field::kBytes), "638");
  EXPECT_EQ(Get(Field::kTermination), "CD--");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kEndpoint), "/a");
}

TEST_F(HaproxyTest, ReadsALineWithoutAHeader) {
  ASSERT_EQ(parser_.Parse("2001:db8::7:4000 [02/Feb/2012:04:05:25.657] fe be/<NOSRV> "
                          "-1/-1/-1/-1/12 -1 0 - - PR-- 0/0/0/0/0 0/0 \"<BADREQ>\"",
                          record_),
            LineKind::kRequest);
  EXPECT_EQ(Get(Field::kIp), "2001:db8::7");
  EXPECT_EQ(Get(Field::kStatus), "-");
  EXPECT_EQ(Get(Field::kMethod), "-");
  EXPECT_EQ(Get(Field::kServer), "<NOSRV>");
}

TEST_F(HaproxyTest, ALineOfTcpOrOfSomethingElseIsBad) {
  EXPECT_EQ(parser_.Parse("192.0.2.9:42619 [02/Feb/2012:04:05:25.657] fe be/srv 0/0/1 212 -- "
                          "0/0/0/0/0 0/0",
                          record_),
            LineKind::kBad);
  EXPECT_EQ(parser_.Parse("Feb  2 04:05:25 localhost haproxy[9883]: Proxy fe1 started.", record_),
            LineKind::kBad);
  EXPECT_EQ(parser_.problem(), "no [time]");
  EXPECT_EQ(parser_.Parse(" [02/Feb/2012:04:05:25.657] fe be/srv", record_), LineKind::kBad);
}

}  // namespace
}  // namespace sluice::logs
