#include <functional>
#include <string>
#include <vector>

#include "integration/http/table_front_end_fixture.h"
#include "wire/base64.h"

// What a caller hands in is believed only as it was given out: every letter of every kind of token
// is edited, and nothing changes.
namespace sluice::frontend::http {
namespace {

class ForgeTest : public TableFrontEndFixture {
 protected:
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: bucket, key_pattern: "{u}", algorithm: token_bucket, rate: 10, burst: 20, window: 100000s}
  - {id: window, key_pattern: "{u}", algorithm: fixed_window, limit: 20, window: 1d}
  - {id: jobs, key_pattern: "{u}", algorithm: concurrency, limit: 20, hold_ttl: 1h}
)");
    given_ = Check(R"({"u": "a", "cost": 3, "receipt": true, "reserve": true})");
    ASSERT_EQ(given_.status, 200);
    ASSERT_EQ(Left(), "17 17 17");
  }

  std::string Left(const std::string& user = "a") {
    const Reply reply = Send("GET", "/v1/ratelimit/status?u=" + user, "");
    std::string left;
    for (const auto& limit : reply.object().at("limits").as_array()) {
      left += (left.empty() ? "" : " ") + std::to_string(limit.at("remaining").as_int64());
    }
    return left;
  }
  std::string Hold() const {
    return std::string(given_.object().at("holds").as_array().at(0).at("id").as_string());
  }
  Reply Refund(const std::string& token) {
    return Post("refund", R"({"receipt": ")" + token + "\"}");
  }
  Reply Settle(const std::string& token) {
    return Post("settle", R"({"reservation": ")" + token + R"(", "cost": 0})");
  }
  Reply Release(const std::string& id, const std::string& name = "jobs") {
    return Post("release", R"({"name": ")" + name + R"(", "id": ")" + id + "\"}");
  }
  Reply Renew(const std::string& id) {
    return Post("renew", R"({"name": "jobs", "id": ")" + id + "\"}");
  }

  // Every text that differs from `token` in one letter (by a few of the others), is shorter, or has
  // one of its bytes changed.
  static std::vector<std::string> Edited(const std::string& token) {
    std::vector<std::string> edited;
    const auto add = [&](std::string text) {
      if (text != token) {
        edited.push_back(std::move(text));
      }
    };
    for (std::size_t i = 0; i < token.size(); ++i) {
      for (const char letter : {'A', 'Q', 'g', 'w', '_'}) {
        std::string text = token;
        text[i] = letter;
        add(std::move(text));
      }
      add(token.substr(0, i));
      add(token.substr(0, i) + token.substr(i + 1));
    }
    std::string bytes;
    EXPECT_TRUE(wire::AppendFromBase64Url(bytes, token));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const unsigned bits : {1U, 128U, 255U}) {
        std::string changed = bytes;
        changed[i] = static_cast<char>(static_cast<unsigned char>(changed[i]) ^ bits);
        std::string text;
        wire::AppendBase64Url(text, changed);
        add(std::move(text));
      }
    }
    add(token + "A");
    add(token + "AAAA");
    return edited;
  }

  Reply given_;
};

TEST_F(ForgeTest, NoEditedReceiptGivesAnythingBack) {
  for (const std::string& token : Edited(given_.Text("receipt"))) {
    const Reply reply = Refund(token);
    EXPECT_TRUE((reply.status == 400 && reply.Text("code") == "invalid_receipt") ||
                (reply.status == 404 && reply.Text("code") == "no_such_charge"))
        << token << " " << reply.text;
  }
  EXPECT_EQ(Left(), "17 17 17");
  EXPECT_EQ(Refund(given_.Text("receipt")).status, 200);
  EXPECT_EQ(Left(), "20 20 17");
}

TEST_F(ForgeTest, NoEditedReservationSettlesAnything) {
  for (const std::string& token : Edited(given_.Text("reservation"))) {
    const Reply reply = Settle(token);
    EXPECT_TRUE((reply.status == 400 && reply.Text("code") == "invalid_reservation") ||
                (reply.status == 404 && reply.Text("code") == "no_such_charge"))
        << token << " " << reply.text;
  }
  EXPECT_EQ(Left(), "17 17 17");
  EXPECT_EQ(Settle(given_.Text("reservation")).status, 200);
  EXPECT_EQ(Left(), "20 20 17");
}

TEST_F(ForgeTest, NoEditedHoldIsReleasedOrRenewed) {
  for (const std::string& token : Edited(Hold())) {
    const Reply released = Release(token);
    EXPECT_TRUE((released.status == 400 && released.Text("code") == "invalid_hold") ||
                released.text == R"({"released":0})")
        << token << " " << released.text;
    const Reply renewed = Renew(token);
    EXPECT_TRUE((renewed.status == 400 && renewed.Text("code") == "invalid_hold") ||
                (renewed.status == 404 && renewed.Text("code") == "no_such_hold"))
        << token << " " << renewed.text;
  }
  EXPECT_EQ(Left(), "17 17 17");
  EXPECT_EQ(Release(Hold()).text, R"({"released":1})");
  EXPECT_EQ(Left(), "17 17 20");
}

// Three tokens of one answer, none of which is another.
TEST_F(ForgeTest, NoKindIsTakenForAnother) {
  const std::string receipt = given_.Text("receipt");
  const std::string reservation = given_.Text("reservation");
  EXPECT_EQ(Refund(reservation).Text("code"), "invalid_receipt");
  EXPECT_EQ(Refund(Hold()).Text("code"), "invalid_receipt");
  EXPECT_EQ(Settle(receipt).Text("code"), "invalid_reservation");
  EXPECT_EQ(Settle(Hold()).Text("code"), "invalid_reservation");
  EXPECT_EQ(Release(receipt).Text("code"), "invalid_hold");
  EXPECT_EQ(Release(reservation).Text("code"), "invalid_hold");
  EXPECT_EQ(Release(Hold(), "window").text, R"({"released":0})");
  EXPECT_EQ(Left(), "17 17 17");
}

// Sealed by this daemon's own secret, before it lost its table.
TEST_F(ForgeTest, TokensOfATableThatIsGoneAreForeign) {
  const Reply before = given_;
  TearDown();
  ForgeTest::SetUp();
  EXPECT_EQ(Refund(before.Text("receipt")).Text("code"), "no_such_charge");
  EXPECT_EQ(Settle(before.Text("reservation")).Text("code"), "no_such_charge");
  EXPECT_EQ(
      Release(std::string(before.object().at("holds").as_array().at(0).at("id").as_string())).text,
      R"({"released":0})");
  EXPECT_EQ(Left(), "17 17 17");
}

// A reset forgives what was charged; its receipt forgives it no second time.
TEST_F(ForgeTest, AReceiptFromBeforeAResetGivesNothingBack) {
  service::NoCompletion none;
  service::Operation reset(none);
  const Attribute user{.name = "u", .value = "a"};
  reset.Ask<service::KeyChange>().attributes = {&user, 1};
  clock_.Advance(std::chrono::seconds(1));
  service_->Submit(reset);
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Check(R"({"u": "a", "cost": 5})").status, 200);
  EXPECT_EQ(Refund(given_.Text("receipt")).text,
            R"({"refunded":[{"name":"bucket","units":0},{"name":"window","units":0}]})");
  EXPECT_EQ(Release(Hold()).text, R"({"released":0})");
  EXPECT_EQ(Left(), "15 15 15");
}

}  // namespace
}  // namespace sluice::frontend::http
