#include "logs/line_parser.h"
#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

class DelimitedTest : public ParserTest {
 protected:
  std::vector<std::string> wanted_{"tokens", "note"};
  std::vector<std::string> no_names_;
};

TEST_F(DelimitedTest, NamesColumnsByTheHeader) {
  DelimitedParser parser(Columns(wanted_), ',', no_names_);
  EXPECT_EQ(parser.Parse("\xEF\xBB\xBFTIMESTAMP,client_ip,Request_Method,url,tokens,note", record_),
            LineKind::kOther);
  ASSERT_EQ(
      parser.Parse("2023-11-16 18:17:03.5,192.0.2.1:99,GET,/a?b,4808,\"x, \"\"y\"\"\"", record_),
      LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'700'158'623'500);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kEndpoint), "/a");
  EXPECT_EQ(Column(0), "4808");
  EXPECT_EQ(Column(1), "x, \"y\"");
}

TEST_F(DelimitedTest, AQuoteInsideATextIsPartOfIt) {
  DelimitedParser parser(Columns(wanted_), ',', no_names_);
  EXPECT_EQ(parser.Parse("ts,tokens,note", record_), LineKind::kOther);
  ASSERT_EQ(parser.Parse(R"(1700158623,"\"a, b\"","\"")", record_), LineKind::kRequest)
      << parser.problem();
  EXPECT_EQ(Column(0), R"(\"a, b\")");
  EXPECT_EQ(Column(1), R"(\")");
  ASSERT_EQ(parser.Parse("1700158623,\"\",\"\"\"\"", record_), LineKind::kRequest);
  EXPECT_EQ(Column(0), "-");
  EXPECT_EQ(Column(1), "\"");
}

TEST_F(DelimitedTest, AnEmptyCellAndADashAreAbsent) {
  DelimitedParser parser(Columns(wanted_), '\t', no_names_);
  EXPECT_EQ(parser.Parse("ts\ttokens\tnote", record_), LineKind::kOther);
  ASSERT_EQ(parser.Parse("1700158623\t\t-", record_), LineKind::kRequest);
  EXPECT_EQ(Column(0), "-");
  EXPECT_EQ(Column(1), "-");
  EXPECT_EQ(record_.columns[1].data(), nullptr);
}

TEST_F(DelimitedTest, JoinsDateAndTimeOfDay) {
  DelimitedParser parser(Columns(wanted_), ';', no_names_);
  EXPECT_EQ(parser.Parse("date;time;tokens", record_), LineKind::kOther);
  ASSERT_EQ(parser.Parse("2023-11-16;18:17:03;1", record_), LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'700'158'623'000);
}

TEST_F(DelimitedTest, GuessesTheColumnsOfAFileWithoutAHeader) {
  std::vector<std::string> wanted{"column_2"};
  DelimitedParser parser(Columns(wanted), ',', no_names_);
  ASSERT_EQ(parser.Parse("a.example,443,192.0.2.1,-,[05/Dec/2024:00:10:18 +0000],400,\"HTTP/1.0\","
                         "\"GET\",\"/\"",
                         record_),
            LineKind::kRequest);
  EXPECT_EQ(MsOf(record_.at), 1'733'357'418'000);
  EXPECT_EQ(Get(Field::kIp), "192.0.2.1");
  EXPECT_EQ(Get(Field::kMethod), "GET");
  EXPECT_EQ(Get(Field::kPath), "/");
  EXPECT_EQ(Column(0), "443");
}

TEST_F(DelimitedTest, TakesNamesFromOutside) {
  const std::vector<std::string> names{"ip", "time", "note"};
  DelimitedParser parser(Columns(wanted_), ',', names);
  ASSERT_EQ(parser.Parse("192.0.2.1,1700158623,hello", record_), LineKind::kRequest);
  EXPECT_EQ(Column(1), "hello");
}

TEST_F(DelimitedTest, SaysWhatIsWrongWithALine) {
  DelimitedParser parser(Columns(wanted_), ',', no_names_);
  EXPECT_EQ(parser.Parse("time,ip", record_), LineKind::kOther);
  EXPECT_EQ(parser.Parse("1700158623,192.0.2.1,3", record_), LineKind::kBad);
  EXPECT_EQ(parser.problem(), "it has more or fewer columns than the header");
  EXPECT_EQ(parser.Parse("1700158623,\"192.0.2.1", record_), LineKind::kBad);
  EXPECT_EQ(parser.problem(), "a quote is not closed");
  EXPECT_EQ(parser.Parse("soon,192.0.2.1", record_), LineKind::kBad);
  EXPECT_EQ(parser.problem(), "the time cannot be read");
  EXPECT_EQ(parser.Parse(",192.0.2.1", record_), LineKind::kBad);
  EXPECT_EQ(parser.problem(), "no time");
  EXPECT_EQ(parser.Parse("", record_), LineKind::kOther);
}

}  // namespace
}  // namespace sluice::logs
