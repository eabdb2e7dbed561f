#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "integration/grpc/front_end_fixture.h"
#include "signing/keyring.h"
#include "store/table.h"

// What a check gave out comes back over gRPC too.
namespace sluice::frontend::grpc {
namespace {

constexpr const char* kRelease = "/sluice.v1.RateLimit/Release";
constexpr const char* kRenew = "/sluice.v1.RateLimit/Renew";
constexpr const char* kSettle = "/sluice.v1.RateLimit/Settle";
constexpr const char* kRefund = "/sluice.v1.RateLimit/Refund";

class RedemptionTest : public FrontEndFixture {
 protected:
  struct Answered {
    std::string status;
    std::string message;
  };
  struct Checked {
    bool allowed = false;
    std::string hold;
    std::string receipt;
    std::string reservation;
  };

  void SetUp() override {
    auto table = store::Table::Create(
        {.path = {}, .keys = 1'000, .blocks = 1'000, .huge_pages = false}, clock_);
    ASSERT_TRUE(table.has_value());
    table_ = *std::move(table);
    table_service_ = std::make_unique<service::LimiterService>(*table_, metrics_);
    keys_ = std::make_unique<signing::Keyring>(signing::Derive(table_->secret(), ""), clock_);
    rules::Findings findings;
    const rules::SourceText source{.name = "r", .text = R"(
rules:
  - {id: api, key_pattern: "{user}", algorithm: fixed_window, limit: 100, window: 1d}
  - {id: jobs, match: {job: "1"}, key_pattern: "{user}", algorithm: concurrency, limit: 2, hold_ttl: 1m}
)"};
    auto rules = rules::RuleSet::Build({&source, 1}, nullptr, findings);
    ASSERT_NE(rules, nullptr);
    table_service_->SetRules(std::move(rules));
    FrontEndSettings settings;
    settings.keys = keys_.get();
    front_end_ = std::make_unique<FrontEnd>(loop_, *table_service_, nullptr, health_, settings);
    Connect();
  }
  void TearDown() override {
    peer_.reset();
    front_end_.reset();
  }

  Answered Ask(const std::string& path, const std::string& message) {
    const auto stream = Call(path, Framed(message));
    Exchange();
    Answered answered{.status = StatusOf(stream), .message = {}};
    if (answered.status == "0") {
      answered.message = MessageOf(stream);
    }
    return answered;
  }
  Checked Check(std::int64_t cost, const std::string& job = "", bool peek = false) {
    std::string bytes;
    protozero::pbf_writer request(bytes);
    const auto add = [&](const std::string& name, const std::string& value) {
      protozero::pbf_writer attribute(request, 1);
      attribute.add_string(1, name);
      attribute.add_string(2, value);
    };
    add("user", "u");
    if (!job.empty()) {
      add("job", job);
    }
    request.add_int64(2, cost);
    request.add_bool(4, peek);
    request.add_bool(5, true);
    request.add_bool(6, true);
    const Answered answered = Ask(kCheck, bytes);
    EXPECT_EQ(answered.status, "0");
    Checked checked;
    protozero::pbf_reader response(answered.message);
    while (response.next()) {
      if (response.tag() == 1) {
        checked.allowed = response.get_bool();
      } else if (response.tag() == 11) {
        protozero::pbf_reader hold(response.get_view());
        EXPECT_TRUE(hold.next(2));
        checked.hold = hold.get_string();
      } else if (response.tag() == 12) {
        checked.receipt = response.get_string();
      } else if (response.tag() == 13) {
        checked.reservation = response.get_string();
      } else {
        response.skip();
      }
    }
    return checked;
  }
  static std::string HoldMessage(const std::vector<std::string>& ids) {
    std::string bytes;
    protozero::pbf_writer request(bytes);
    for (const std::string& id : ids) {
      protozero::pbf_writer hold(request, 1);
      hold.add_string(1, "jobs");
      hold.add_string(2, id);
    }
    return bytes;
  }
  static std::string SettleMessage(const std::string& reservation, std::int64_t cost) {
    std::string bytes;
    protozero::pbf_writer request(bytes);
    request.add_string(1, reservation);
    request.add_int64(2, cost);
    return bytes;
  }
  static std::string RefundMessage(const std::string& receipt) {
    std::string bytes;
    protozero::pbf_writer(bytes).add_string(1, receipt);
    return bytes;
  }
  // The numbers of the first item of a response, by their tags.
  static std::vector<std::int64_t> NumbersIn(const std::string& message) {
    std::vector<std::int64_t> numbers;
    protozero::pbf_reader response(message);
    while (response.next(1)) {
      protozero::pbf_reader item(response.get_view());
      while (item.next()) {
        if (item.wire_type() == protozero::pbf_wire_type::varint) {
          numbers.push_back(item.get_int64());
        } else {
          item.skip();
        }
      }
    }
    return numbers;
  }
  static std::int64_t CountIn(const std::string& message) {
    protozero::pbf_reader response(message);
    return response.next(1) ? response.get_int32() : 0;
  }
  static std::vector<std::string> Edited(const std::string& token) {
    std::vector<std::string> edited;
    for (std::size_t i = 0; i < token.size(); ++i) {
      for (const char letter : {'A', 'g', '_'}) {
        edited.push_back(token);
        edited.back()[i] = letter;
      }
      edited.push_back(token.substr(0, i));
    }
    std::erase(edited, token);
    return edited;
  }
  std::int64_t Left() {
    service::NoCompletion none;
    service::Operation operation(none);
    const Attribute user{.name = "user", .value = "u"};
    auto& peek = operation.Ask<service::RuleCheck>();
    peek.attributes = {&user, 1};
    peek.peek = true;
    table_service_->Submit(operation);
    return peek.verdict.decisions[0].decision.remaining;
  }

  std::unique_ptr<store::Table> table_;
  std::unique_ptr<service::LimiterService> table_service_;
  std::unique_ptr<signing::Keyring> keys_;
};

TEST_F(RedemptionTest, WhoIsGrantedAHoldGivesItBackOnce) {
  const Checked first = Check(1, "1");
  const Checked second = Check(1, "1");
  ASSERT_NE(first.hold, "");
  EXPECT_FALSE(Check(1, "1").allowed);
  EXPECT_EQ(CountIn(Ask(kRelease, HoldMessage({first.hold})).message), 1);
  EXPECT_EQ(CountIn(Ask(kRelease, HoldMessage({first.hold})).message), 0);
  EXPECT_EQ(CountIn(Ask(kRelease, HoldMessage({first.hold, second.hold})).message), 1);
  EXPECT_TRUE(Check(2, "1").allowed);
}

TEST_F(RedemptionTest, ARenewedHoldOutlivesTheOthersAndOneThatIsGoneIsNotFound) {
  const Checked kept = Check(1, "1");
  const Checked left = Check(1, "1");
  clock_.Advance(std::chrono::seconds(50));
  EXPECT_EQ(CountIn(Ask(kRenew, HoldMessage({kept.hold})).message), 1);
  clock_.Advance(std::chrono::seconds(50));
  EXPECT_EQ(Ask(kRenew, HoldMessage({kept.hold, left.hold})).status, "5");
  EXPECT_TRUE(Check(1, "1").allowed);
  EXPECT_FALSE(Check(1, "1").allowed);
}

TEST_F(RedemptionTest, AReservationIsSettledAndAReceiptRefundedOnce) {
  const Checked reserved = Check(40);
  const std::vector<std::int64_t> settled{40, 15};
  EXPECT_EQ(NumbersIn(Ask(kSettle, SettleMessage(reserved.reservation, 15)).message), settled);
  EXPECT_EQ(NumbersIn(Ask(kSettle, SettleMessage(reserved.reservation, 0)).message), settled);
  EXPECT_EQ(Left(), 85);
  const Checked charged = Check(30);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(NumbersIn(Ask(kRefund, RefundMessage(charged.receipt)).message),
              std::vector<std::int64_t>{30});
    EXPECT_EQ(Left(), 85);
  }
}

TEST_F(RedemptionTest, WhatIsNotChargedGivesNothingOut) {
  const Checked peeked = Check(1, "1", /*peek=*/true);
  EXPECT_TRUE(peeked.allowed);
  EXPECT_EQ(peeked.hold + peeked.receipt + peeked.reservation, "");
}

TEST_F(RedemptionTest, NothingEditedIsTaken) {
  const Checked given = Check(10, "");
  const Checked job = Check(1, "1");
  for (const std::string& id : Edited(job.hold)) {
    const Answered released = Ask(kRelease, HoldMessage({id}));
    EXPECT_TRUE(released.status == "3" ||
                (released.status == "0" && CountIn(released.message) == 0))
        << id;
    const Answered renewed = Ask(kRenew, HoldMessage({id}));
    EXPECT_TRUE(renewed.status == "3" || renewed.status == "5") << id;
  }
  for (const std::string& token : Edited(given.receipt)) {
    const std::string status = Ask(kRefund, RefundMessage(token)).status;
    EXPECT_TRUE(status == "3" || status == "5") << token;
  }
  for (const std::string& token : Edited(given.reservation)) {
    const std::string status = Ask(kSettle, SettleMessage(token, 0)).status;
    EXPECT_TRUE(status == "3" || status == "5") << token;
  }
  EXPECT_EQ(Left(), 89);
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

TEST_F(RedemptionTest, SaysWhatIsWrong) {
  const Checked given = Check(1);
  EXPECT_EQ(Ask(kRelease, "").status, "3");
  EXPECT_EQ(Ask(kRelease, HoldMessage(std::vector<std::string>(65, "x"))).status, "3");
  EXPECT_EQ(Ask(kSettle, RefundMessage(given.reservation)).status, "3");  // No cost.
  EXPECT_EQ(Ask(kSettle, SettleMessage(given.reservation, -1)).status, "3");
  EXPECT_EQ(Ask(kSettle, SettleMessage(given.receipt, 1)).status, "3");
  EXPECT_EQ(Ask(kRefund, RefundMessage(given.reservation)).status, "3");
  for (const char* path : {kRelease, kRenew, kSettle, kRefund}) {
    EXPECT_EQ(Ask(path, "\x0a\x7f").status, "13") << path;  // No message.
  }
  EXPECT_EQ(front_end_->exchanges_in_use(), 0U);
}

}  // namespace
}  // namespace sluice::frontend::grpc
