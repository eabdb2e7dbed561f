#include "store/table.h"

#include <deque>

#include <gtest/gtest.h>

#include "support/late_store.h"
#include "support/manual_clock.h"
#include "unit/service/service_fixture.h"

// The service over a real table, asked at once and through a store that answers late and out
// of order: the same rules, the same numbers.
namespace sluice::service {
namespace {

// Takes down what the second rule has left.
class PeekCall final : public TestCheck {
 public:
  explicit PeekCall(Units& left) : left_(left) { check.peek = true; }
  void OnCompleted(Operation& /*operation*/) noexcept override {
    left_ = verdict.decisions.at(1).decision.remaining;
  }

 private:
  Units& left_;
};

enum class When : std::uint8_t { kAtOnce, kLate };

class TableServiceTest : public ::testing::TestWithParam<When> {
 protected:
  TableServiceTest()
      : table_(std::move(
            *store::Table::Create({.path = {}, .keys = 1'000, .huge_pages = false}, clock_))),
        late_(*table_, 7),
        service_(GetParam() == When::kLate ? static_cast<store::KeyStore&>(late_) : *table_,
                 metrics_) {}

  void Load(const std::string& rules) { service_.SetRules(RulesOf("rules:\n" + rules)); }
  void Decide(TestCheck& call, Units cost = 1) {
    call.check.cost = Cost{.units = cost};
    service_.Submit(call.operation);
    late_.PumpAll();
  }

  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_;
  support::LateStore late_;
  ServiceMetrics metrics_;
  LimiterService service_;
};

TEST_P(TableServiceTest, ADenialChargesNoRule) {
  Load(RuleText("wide") + StrictText("tight"));
  TestCheck call;
  Decide(call);  // tight has no ip: denied, and wide is left alone.
  EXPECT_FALSE(call.verdict.allowed);
  Load(RuleText("wide"));
  Decide(call, 10);
  EXPECT_TRUE(call.verdict.allowed);
  Decide(call);
  EXPECT_FALSE(call.verdict.allowed);
}

TEST_P(TableServiceTest, AShadowRuleIsChargedOnlyByWhatIsAllowedAndFits) {
  Load(RuleText("live") + RuleText("dark", ", burst: 4, mode: shadow"));
  TestCheck call;
  Decide(call, 3);
  Decide(call, 3);  // dark would deny: not charged, and refuses nobody.
  EXPECT_TRUE(call.verdict.allowed);
  Decide(call, 11);  // live denies: dark is not charged either.
  EXPECT_FALSE(call.verdict.allowed);
  Units dark_left = -1;
  PeekCall peek(dark_left);
  Decide(peek, 0);
  EXPECT_EQ(dark_left, 1);
}

TEST_P(TableServiceTest, ManyInFlightAreEachAnsweredOnceAndNoneTooMany) {
  Load(RuleText("r"));
  std::deque<TestCheck> calls(64);
  std::vector<Operation*> batch;
  for (TestCheck& call : calls) {
    batch.push_back(&call.operation);
  }
  service_.Submit(batch);
  Load(RuleText("r", ", burst: 20"));  // In the middle: those under way keep the old.
  late_.PumpAll();
  int allowed = 0;
  for (const TestCheck& call : calls) {
    EXPECT_EQ(call.answered, 1);
    allowed += call.verdict.allowed ? 1 : 0;
  }
  EXPECT_EQ(allowed, 10);
}

INSTANTIATE_TEST_SUITE_P(Stores, TableServiceTest, ::testing::Values(When::kAtOnce, When::kLate));

}  // namespace
}  // namespace sluice::service
