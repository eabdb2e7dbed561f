#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/quota.h"
#include "core/shape.h"
#include "store/table.h"
#include "support/manual_clock.h"
#include "unit/service/service_fixture.h"

// Receipts that outlive the rules that they were given by: a reset takes their worth, whatever the
// rule is called and however it counts by then.
namespace sluice::service {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// What a token has of one charge.
struct Kept {
  std::string rule;
  store::Charge charge;
};

class ChargingCall final : public TestCheck {
 public:
  ChargingCall() { check.want_receipts = true; }
  void OnCompleted(Operation& /*operation*/) noexcept override {
    ++answered;
    left = verdict.decisions.empty() ? -1 : verdict.decisions.front().decision.remaining;
    if (!verdict.decisions.empty()) {
      const RuleDecision& made = verdict.decisions.front();
      kept = {.rule = std::string(made.rule->id),
              .charge = {.receipt = made.receipt,
                         .units = made.cost.units,
                         .limit = made.quota.limit,
                         .rate = made.quota.rate,
                         .shape = core::ShapeDigest(made.quota)}};
    }
  }
  Units left = -1;
  Kept kept;
};

class ReceiptTest : public ::testing::Test {
 protected:
  ReceiptTest() { Restart(); }

  // Another process on the same table.
  void Restart() { service_ = std::make_unique<LimiterService>(*table_, metrics_); }
  void Load(const std::string& rule) { service_->SetRules(RulesOf("rules:\n" + rule)); }

  Kept Charge(Units units) {
    ChargingCall call;
    call.check.cost = Cost{.units = units};
    service_->Submit(call.operation);
    EXPECT_TRUE(call.verdict.allowed);
    clock_.Advance(seconds(1));
    return call.kept;
  }
  Units Left() {
    ChargingCall call;
    call.check.peek = true;
    service_->Submit(call.operation);
    return call.left;
  }
  void Reset() {
    TestOperation call;
    auto& reset = call.operation.Ask<KeyChange>();
    reset.attributes = attributes_;
    service_->Submit(call.operation);
    EXPECT_EQ(reset.touched, 1U);
    clock_.Advance(seconds(1));
  }
  store::StoreError HandIn(const Kept& kept) {
    const std::vector<core::KeyPart> parts{
        {.attribute = "user_id", .type = core::AttributeType::kText, .value = "a"}};
    TestOperation call;
    auto& refund = call.operation.Ask<Settlement>();
    refund.kind = Settlement::Kind::kRefund;
    refund.charges.push_back({.key = core::Key({.rule = kept.rule, .formerly = {}, .parts = parts}),
                              .made = kept.charge});
    service_->Submit(call.operation);
    return refund.charges.front().error;
  }

  // Of ten units, of which `rate` come back in 1,000 hours.
  static std::string Bucket(const std::string& id, const std::string& rate,
                            const std::string& more = "") {
    return "  - {id: " + id +
           ", key_pattern: \"user:{user_id}\", algorithm: token_bucket, burst: 10, window: 1000h, "
           "rate: " +
           rate + more + "}\n";
  }

 private:
  const std::vector<Attribute> attributes_{{.name = "user_id", .value = "a"}};
  support::ManualClock clock_;
  std::unique_ptr<store::Table> table_ =
      std::move(*store::Table::Create({.path = {}, .keys = 1'000, .huge_pages = false}, clock_));
  ServiceMetrics metrics_;
  std::unique_ptr<LimiterService> service_;

 protected:
  void Advance(Duration by) { clock_.Advance(by); }
};

TEST_F(ReceiptTest, GivesBackUnderEachNameThatItsRuleHad) {
  Load(Bucket("a", "100"));
  const Kept kept = Charge(5);
  Load(Bucket("b", "100", ", formerly: a"));
  Load(Bucket("c", "100", ", formerly: b"));
  EXPECT_EQ(HandIn(kept), store::StoreError::kNone);
  EXPECT_EQ(Left(), 10);
}

// The mark of the reset lies under a name that the last rule does not state.
TEST_F(ReceiptTest, GivesNothingBackAfterAResetAndTwoRenames) {
  Load(Bucket("a", "100"));
  const Kept kept = Charge(5);
  Load(Bucket("b", "100", ", formerly: a"));
  Reset();
  (void)Charge(5);
  Load(Bucket("c", "100", ", formerly: b"));
  EXPECT_EQ(Left(), 5);
  Load(Bucket("d", "100", ", formerly: c"));
  EXPECT_EQ(HandIn(kept), store::StoreError::kNone);
  EXPECT_EQ(Left(), 5);
}

TEST_F(ReceiptTest, AResetClearsWhatLiesUnderEveryFormerName) {
  Load(Bucket("a", "100"));
  const Kept kept = Charge(5);
  Load(Bucket("b", "100", ", formerly: a"));
  Load(Bucket("c", "100", ", formerly: b"));
  Reset();
  EXPECT_EQ(HandIn(kept), store::StoreError::kNone);
  EXPECT_EQ(Left(), 10);
}

TEST_F(ReceiptTest, GivesNothingBackAfterAResetByFasterNumbers) {
  Load(Bucket("a", "100"));
  const Kept kept = Charge(5);
  Load(Bucket("a", "600000"));
  Reset();
  Advance(hours(50));
  EXPECT_EQ(Charge(5).charge.units, 5);
  EXPECT_EQ(HandIn(kept), store::StoreError::kNone);
  EXPECT_EQ(Left(), 5);
}

TEST_F(ReceiptTest, GivesNothingBackAfterFasterNumbersAResetAndTheOldOnesAgain) {
  Load(Bucket("a", "100"));
  const Kept kept = Charge(5);
  Load(Bucket("b", "600000", ", formerly: a"));
  Reset();
  Advance(minutes(10));
  Load(Bucket("c", "100", ", formerly: b"));
  (void)Charge(5);
  EXPECT_EQ(HandIn(kept), store::StoreError::kNone);
  EXPECT_EQ(Left(), 5);
}

TEST_F(ReceiptTest, GivesNothingBackAfterARestartWithFasterNumbersAndAReset) {
  Load(Bucket("a", "500"));
  const Kept kept = Charge(5);
  Restart();
  Load(Bucket("a", "600000"));
  Reset();
  Advance(minutes(10));
  Load(Bucket("a", "500"));
  (void)Charge(5);
  EXPECT_EQ(HandIn(kept), store::StoreError::kNone);
  EXPECT_EQ(Left(), 5);
}

}  // namespace
}  // namespace sluice::service
