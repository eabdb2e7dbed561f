#include <string>

#include "logs/format_detection.h"
#include "logs/line_parser.h"
#include "unit/logs/parser_fixture.h"

namespace sluice::logs {
namespace {

// A line as the daemon writes it.
std::string LineOf(const std::string& judged_by, const std::string& attributes) {
  return R"({"time": "2025-12-17T09:03:01.123456789Z", "request_id": "req-1", )"
         R"("listener": "127.0.0.1:8080", "judged_by": ")" +
         judged_by + R"(", "allowed": false, "cost": 3, "attributes": {)" + attributes +
         R"(}, "decisions": [{"rule": "api", "key": {"user_id": "k"}, "outcome": "denied", )"
         R"("limit": 10, "remaining": 0, "cost": 7, "charged": false}]})";
}

class DecisionLogParserTest : public ParserTest {
 protected:
  std::vector<std::string> wanted_{"user_id", "ip", "endpoint", "status", "cost"};
  DecisionLogParser parser_{Columns(wanted_)};
};

TEST_F(DecisionLogParserTest, ReadsTheAttributesTheCostAndTheTimeToItsLastDigit) {
  ASSERT_EQ(
      parser_.Parse(LineOf("rules", R"("user_id": "u_42", "ip": "-", "endpoint": "", "cost": "9")"),
                    record_),
      LineKind::kRequest)
      << parser_.problem();
  EXPECT_EQ(record_.at.time_since_epoch().count(), 1'765'962'181'123'456'789);
  EXPECT_EQ(record_.cost, "3");
  EXPECT_EQ(Column(0), "u_42");
  EXPECT_NE(record_.columns[1].data(), nullptr);
  EXPECT_EQ(Column(1), "-");
  EXPECT_EQ(Column(2), "");
  EXPECT_EQ(record_.columns[3].data(), nullptr);
  EXPECT_EQ(Column(4), "9");
  EXPECT_EQ(Get(Field::kStatus), "429");
  EXPECT_EQ(Get(Field::kIp), "-");
}

TEST_F(DecisionLogParserTest, AnAttributeStatusIsTheRequestsOwn) {
  ASSERT_EQ(parser_.Parse(LineOf("rules", R"("status": "new")"), record_), LineKind::kRequest);
  EXPECT_EQ(Column(3), "new");
  EXPECT_EQ(record_.Get(Field::kStatus).data(), nullptr);
}

TEST_F(DecisionLogParserTest, OnlyRulesAreReplayed) {
  EXPECT_EQ(parser_.Parse(LineOf("throttle", ""), record_), LineKind::kOther);
  EXPECT_EQ(parser_.Parse(LineOf("envoy", ""), record_), LineKind::kOther);
  EXPECT_EQ(parser_.Parse(R"({"time": "2025-12-17T09:03:01Z", "cost": 1})", record_),
            LineKind::kBad);
}

TEST_F(DecisionLogParserTest, IsDetected) {
  const std::vector<std::string> wanted;
  const ParserOptions options{.stamps = &utc_, .utc = &utc_, .wanted = &wanted};
  const std::string rules = LineOf("rules", R"("ip": "192.0.2.1")") + "\n";
  const std::string throttle = LineOf("throttle", "") + "\n";
  for (const std::string& head : {rules, throttle, throttle + rules}) {
    const auto found = DetectFormat(head, options);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->format, Format::kDecisions);
    EXPECT_TRUE(found->wrappings.empty());
  }
  EXPECT_EQ(FormatNamed("decisions"), Format::kDecisions);
  EXPECT_FALSE(DetectFormat("\n\n", options).has_value());
}

}  // namespace
}  // namespace sluice::logs
