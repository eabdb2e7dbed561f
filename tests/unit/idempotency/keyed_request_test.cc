#include "idempotency/keyed_request.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/event_loop.h"

namespace sluice::idempotency {
namespace {

using ::testing::ElementsAre;
using Outcome = KeyedRequest::Outcome;
using Claimed = store::RecordCall::Found;

// What other nodes have, as a test says: each claim gets the next of `script`.
class ScriptedRecords final : public store::AnswerRecords {
 public:
  void Claim(store::RecordCall& call) override {
    call.found = script.empty() ? Claimed::kOurs : script.front();
    if (!script.empty()) {
      script.erase(script.begin());
    }
    call.answer = "1:Fbody";
    call.OnAnswered();
  }
  void Keep(store::RecordCall& call) override { End(call, "keep"); }
  void Drop(store::RecordCall& call) override { End(call, "drop"); }

  std::vector<Claimed> script;
  std::vector<std::string> told;

 private:
  void End(store::RecordCall& call, const char* verb) {
    told.emplace_back(verb);
    call.OnAnswered();
  }
};

class KeyedRequestTest : public testing::Test {
 protected:
  std::unique_ptr<KeyedRequest> Begin(const std::string& name, const std::string& body) {
    auto request = std::make_unique<KeyedRequest>(
        loop_, memory_, name, body,
        KeyedRequest::Owner{.on_known =
                                [this](Outcome outcome, const AnswerMemory::Answer& answer) {
                                  known_.push_back(outcome);
                                  answer_ = answer;
                                },
                            .is_abandoned = [this] { return abandoned_; },
                            .now = [] { return Duration(std::chrono::hours(5)); }});
    request->Begin();
    return request;
  }

  ScriptedRecords records_;
  AnswerMemory memory_{{.shared = &records_}};
  net::EventLoop loop_;
  bool abandoned_ = false;
  std::vector<Outcome> known_;
  AnswerMemory::Answer answer_;
};

TEST_F(KeyedRequestTest, ACopyThatComesMeanwhileIsAnsweredAsTheFirst) {
  const auto first = Begin("a", "x");
  const auto copy = Begin("a", "x");
  EXPECT_THAT(known_, ElementsAre(Outcome::kDecide));
  memory_.Keep("a", std::chrono::hours(5), {.metadata = "M", .body = "B"});
  loop_.RunOne();
  EXPECT_THAT(known_, ElementsAre(Outcome::kDecide, Outcome::kRepeat));
  EXPECT_EQ(answer_.body, "B");
  const auto other = Begin("a", "y");
  EXPECT_EQ(known_.back(), Outcome::kOtherBody);
}

TEST_F(KeyedRequestTest, ACopyOfOneThatWasDeniedIsDecided) {
  const auto first = Begin("a", "x");
  const auto copy = Begin("a", "x");
  memory_.Drop("a");
  loop_.RunOne();
  EXPECT_THAT(known_, ElementsAre(Outcome::kDecide, Outcome::kDecide));
}

TEST_F(KeyedRequestTest, WaitsForAnotherNodeThatIsDecidingIt) {
  records_.script = {Claimed::kPending, Claimed::kPending, Claimed::kAnswered};
  const auto request = Begin("a", "x");
  EXPECT_THAT(known_, ElementsAre());
  while (known_.empty()) {
    loop_.RunOne();
  }
  EXPECT_THAT(known_, ElementsAre(Outcome::kRepeat));
  EXPECT_EQ(answer_.metadata, "F");
  EXPECT_EQ(answer_.body, "body");
}

TEST_F(KeyedRequestTest, AnAbandonedOneGivesItsPlaceToAnotherCopy) {
  records_.script = {Claimed::kPending};
  const auto request = Begin("a", "x");
  const auto copy = Begin("a", "x");  // Waits for the one above.
  abandoned_ = true;
  while (known_.size() < 2) {
    loop_.RunOne();
  }
  EXPECT_THAT(known_, ElementsAre(Outcome::kAbandoned, Outcome::kDecide));
}

}  // namespace
}  // namespace sluice::idempotency
