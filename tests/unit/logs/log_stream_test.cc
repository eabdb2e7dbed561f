#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "logs/log_merge.h"
#include "unit/logs/log_files.h"

namespace sluice::logs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A line of the combined format at 09:00 and `second` seconds, of the client 192.0.2.`host`.
std::string Line(int second, int host) {
  const auto two = [](int n) { return std::string(n < 10 ? "0" : "") + std::to_string(n); };
  return "192.0.2." + std::to_string(host) + " - - [17/Dec/2025:" + two(9 + (second / 3600)) + ":" +
         two(second / 60 % 60) + ":" + two(second % 60) +
         " +0000] \"GET /p HTTP/1.1\" 200 5 \"-\" \"-\"\n";
}

class LogStreamTest : public LogFilesTest {
 protected:
  // "seconds past nine, client" of each request, in order of time.
  std::vector<std::string> Read(const std::vector<std::string>& paths) {
    auto logs = LogMerge::Open(paths, options_, plan_);
    if (!logs) {
      error_ = logs.error().Text();
      return {};
    }
    std::vector<std::string> requests;
    while (LogStream* stream = logs->Next()) {
      const LogStream::Request& request = *stream->Peek();
      const auto second = request.at.time_since_epoch().count() / 1'000'000'000 - 1'765'962'000;
      requests.push_back(std::to_string(second) + " " + std::string(request.Value(0)));
      stream->Pop();
    }
    summaries_.clear();
    bad_lines_.clear();
    for (const auto& stream : logs->streams()) {
      summaries_.push_back(stream->Summary());
      for (const BadLine& bad : stream->bad_lines()) {
        bad_lines_.push_back(std::to_string(bad.line) + ": " + bad.why);
      }
    }
    return requests;
  }

  LogOptions options_;
  AttributePlan plan_{{"ip"}, {}, ""};
  std::vector<LogSummary> summaries_;
  std::vector<std::string> bad_lines_;
  std::string error_;
};

// What a listener makes of the path of a proxy's question, and what it refuses.
TEST_F(LogStreamTest, PathsAreReadAsAListenerReadsThem) {
  const auto line = [](const std::string& target) {
    return "192.0.2.1 - - [17/Dec/2025:09:00:01 +0000] \"GET " + target +
           " HTTP/1.1\" 200 5 \"-\" \"-\"\n";
  };
  const std::string log = Write("log", line("//login/?a=1") + line("/%6Cogin") + line("/a%2Fb") +
                                           line("/" + std::string(1500, 'x')));
  plan_ = AttributePlan({"endpoint"}, {}, "");
  EXPECT_THAT(Read({log}),
              ElementsAre("1 //login/", "1 /%6Cogin", "1 /a%2Fb", "1 /" + std::string(1500, 'x')));
  plan_.ReadPathsAs({.strict = true});
  EXPECT_THAT(Read({log}), ElementsAre("1 /login", "1 /login"));
  EXPECT_THAT(bad_lines_,
              ElementsAre(HasSubstr("3: its path would be refused: "),
                          HasSubstr("4: its path would be refused: the path is longer")));
  plan_.ReadPathsAs({});
  EXPECT_THAT(Read({log}), ElementsAre("1 //login/", "1 /login", "1 /a/b"));
  plan_ = AttributePlan({"ip"}, {}, "");
  plan_.ReadPathsAs({.strict = true});
  EXPECT_THAT(Read({log}), SizeIs(4));
}

TEST_F(LogStreamTest, PutsLinesInOrderAndCountsTheBad) {
  EXPECT_THAT(Read({Write("log", Line(1, 1) + "garbage\n" + Line(40, 2) + Line(12, 3) + "\n" +
                                     Line(41, 4))}),
              ElementsAre("1 192.0.2.1", "12 192.0.2.3", "40 192.0.2.2", "41 192.0.2.4"));
  EXPECT_THAT(bad_lines_, ElementsAre("2: no [time]"));
  EXPECT_EQ(summaries_[0].requests, 4U);
  EXPECT_EQ(summaries_[0].bad, 1U);
  EXPECT_EQ(summaries_[0].lines, 6U);
  EXPECT_EQ(summaries_[0].put_right, std::chrono::seconds(28));
  EXPECT_EQ(summaries_[0].late, 0U);
}

TEST_F(LogStreamTest, MergesLogsByTimeInWhateverOrderTheyAreGiven) {
  const std::string today = Write("log", Line(100, 1) + Line(300, 1));
  const std::string before = AppendGzip("log.1.gz", Line(10, 1) + Line(20, 1));
  const std::string other = Write("other", Line(15, 2) + Line(200, 2));
  EXPECT_THAT(Read({today, before, other}),
              ElementsAre("10 192.0.2.1", "15 192.0.2.2", "20 192.0.2.1", "100 192.0.2.1",
                          "200 192.0.2.2", "300 192.0.2.1"));
}

TEST_F(LogStreamTest, OneStampFarAheadIsABadLineAndNotANewPresent) {
  std::string ahead = Line(3, 9);
  ahead.replace(ahead.find("2025"), 4, "2099");
  EXPECT_THAT(Read({Write("log", Line(1, 1) + ahead + Line(2, 2) + Line(3, 3))}),
              ElementsAre("1 192.0.2.1", "2 192.0.2.2", "3 192.0.2.3"));
  EXPECT_THAT(bad_lines_, ElementsAre("2: its time is far ahead of the lines around it"));
  EXPECT_EQ(summaries_[0].late, 0U);
  EXPECT_THAT(Read({Write("first", ahead + Line(1, 1) + Line(2, 2))}),
              ElementsAre("1 192.0.2.1", "2 192.0.2.2"));
  EXPECT_THAT(bad_lines_, ElementsAre("1: its time is far ahead of the lines around it"));
}

TEST_F(LogStreamTest, AGapIsNoJumpAndTheLastLineCounts) {
  EXPECT_THAT(Read({Write("log", Line(1, 1) + Line(20'000, 2) + Line(30'000, 3))}),
              ElementsAre("1 192.0.2.1", "20000 192.0.2.2", "30000 192.0.2.3"));
  EXPECT_THAT(bad_lines_, IsEmpty());
}

TEST_F(LogStreamTest, SortsAWholeLogHoweverFarOutOfOrderItIs) {
  std::string newest_first;
  std::vector<std::string> right;
  for (int i = 0; i < 500; ++i) {
    newest_first.insert(0, Line(i * 10, i % 7));
    right.push_back(std::to_string(i * 10) + " 192.0.2." + std::to_string(i % 7));
  }
  const std::string path = Write("log", newest_first);
  EXPECT_NE(Read({path}), right);
  EXPECT_TRUE(summaries_[0].IsDisordered());
  options_.sort_paths = {path};
  EXPECT_EQ(Read({path}), right);
  EXPECT_TRUE(summaries_[0].sorted);
  EXPECT_FALSE(summaries_[0].IsDisordered());
  EXPECT_EQ(summaries_[0].put_right, std::chrono::seconds(4990));
  options_.sort_paths = {};
  options_.sort = true;
  EXPECT_EQ(Read({path}), right);
}

TEST_F(LogStreamTest, ALogIsDisorderedFromOneLateLineInAHundred) {
  std::string log;
  for (int i = 0; i < 199; ++i) {
    log += Line(i * 10, 1);
  }
  Read({Write("log", log)});
  EXPECT_FALSE(summaries_[0].IsDisordered());
  Read({Write("log", log + Line(0, 2) + Line(0, 2))});
  EXPECT_EQ(summaries_[0].late, 2U);
  EXPECT_FALSE(summaries_[0].IsDisordered());
  Read({Write("log", log + Line(0, 2) + Line(0, 2) + Line(0, 2))});
  EXPECT_TRUE(summaries_[0].IsDisordered());
}

TEST_F(LogStreamTest, AShuffledLogIsDisorderedThoughItsLinesLookFarAhead) {
  std::string log;
  for (int i = 0; i < 200; ++i) {
    log += Line(i * 7919 % 200 * 4000 % 50'000, 1);  // All over half a day.
  }
  Read({Write("log", log)});
  EXPECT_TRUE(summaries_[0].IsDisordered());
  options_.sort = true;
  EXPECT_EQ(Read({Path("log")}).size(), 200U);
}

TEST_F(LogStreamTest, SkipsUtf8MarksAndNamesUtf16) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_THAT(Read({Write("log", mark + Line(1, 1) + mark + Line(2, 2))}),
              ElementsAre("1 192.0.2.1", "2 192.0.2.2"));
  EXPECT_THAT(bad_lines_, IsEmpty());
  EXPECT_EQ(Read({Write("json", mark + "{\"ts\": 1765962001, \"ip\": \"192.0.2.1\"}\n")}).size(),
            1U);
  EXPECT_EQ(Read({Write("w3c", mark + "#Fields: date time c-ip\n2025-12-17 09:00:01 192.0.2.1\n")})
                .size(),
            1U);
  std::string wide = "\xFF\xFE";
  for (const char c : Line(1, 1)) {
    wide += std::string{c, '\0'};
  }
  Read({Write("wide", wide)});
  EXPECT_THAT(error_, HasSubstr("UTF-16"));
  EXPECT_THAT(error_, HasSubstr("iconv"));
}

TEST_F(LogStreamTest, ReadsTheTimeFromTheColumnNamed) {
  options_.time = {.name = "when", .unit = std::chrono::milliseconds(1)};
  EXPECT_THAT(Read({Write("log.csv", "time,when,ip\n1,1765962001500,192.0.2.1\n")}),
              ElementsAre("1 192.0.2.1"));
  EXPECT_FALSE(summaries_[0].whole_seconds);
  Read({Write("log", Line(1, 1))});
  EXPECT_THAT(error_, HasSubstr("names a column"));
  Read({Write("log.csv", "time,ip\n1765962001,192.0.2.1\n")});
  EXPECT_THAT(error_, HasSubstr("a column called when"));
}

TEST_F(LogStreamTest, ReadsWhatTheCallersLayoutSays) {
  const auto pattern = LogPattern::Parse("$remote_addr|$msec");
  ASSERT_TRUE(pattern);
  options_.pattern = *pattern;
  options_.format = Format::kPattern;
  EXPECT_THAT(Read({Write("log", "192.0.2.1|1765962001.250\nx\n")}), ElementsAre("1 192.0.2.1"));
  EXPECT_EQ(summaries_[0].bad, 1U);
}

TEST_F(LogStreamTest, ReadsWhatIsThereOfACutOffLog) {
  std::string text;
  for (int i = 0; i < 3'000; ++i) {
    text += Line(i, i * 31 % 250);
  }
  const std::string path = AppendGzip("log.gz", text);
  CutOff("log.gz", 3'000);
  const auto requests = Read({path});
  EXPECT_GT(requests.size(), 1'000U);
  EXPECT_LT(requests.size(), 3'000U);
  ASSERT_TRUE(summaries_[0].cut_off);
  EXPECT_THAT(summaries_[0].cut_off->Text(), HasSubstr("truncated"));
}

TEST_F(LogStreamTest, TakesValuesAndCostsFromTheColumnsNamed) {
  plan_ = AttributePlan({"user_id", "endpoint"}, {{"user_id", "account"}}, "tokens");
  auto logs =
      LogMerge::Open({Write("log.csv",
                            "time,account,path,tokens\n1765962001,acme,/a?b,70\n1765962002,,/c,x\n"
                            "1765962003,acme,/d,\n1765962004,,/e,5\n")},
                     options_, plan_);
  ASSERT_TRUE(logs) << logs.error().Text();
  LogStream* stream = logs->Next();
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->Peek()->Value(0), "acme");
  EXPECT_EQ(stream->Peek()->Value(1), "/a");
  EXPECT_EQ(stream->Peek()->cost, 70);
  stream->Pop();
  stream = logs->Next();
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(stream->Peek()->Value(0).data(), nullptr);
  EXPECT_EQ(stream->Peek()->cost, 5);
  stream->Pop();
  EXPECT_EQ(logs->Next(), nullptr);
  EXPECT_EQ(logs->streams()[0]->Summary().bad, 2U);
}

TEST_F(LogStreamTest, SaysWhatItCannotRead) {
  Read({Path("absent")});
  EXPECT_THAT(error_, HasSubstr("absent"));
  Read({Write("prose", "It was a dark and stormy night,\nand nobody logged it.\n")});
  EXPECT_THAT(error_, HasSubstr("--format"));
  Read({Write("events", "{\"t_ms\": 1000, \"user_id\": \"a\"}\n")});
  EXPECT_THAT(error_, HasSubstr("--format events"));
  options_.zone = "Nowhere";
  Read({Write("log", Line(1, 1))});
  EXPECT_THAT(error_, HasSubstr("unknown time zone Nowhere"));
}

TEST_F(LogStreamTest, AnEmptyLogHasNoRequests) {
  EXPECT_THAT(Read({Write("log", "")}), IsEmpty());
  EXPECT_EQ(error_, "");
}

}  // namespace
}  // namespace sluice::logs
