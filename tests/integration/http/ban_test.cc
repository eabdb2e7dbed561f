#include <chrono>
#include <memory>
#include <string>

#include "integration/http/table_front_end_fixture.h"

namespace sluice::frontend::http {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class BanTest : public TableFrontEndFixture {
 protected:
  void SetUp() override {
    TableFrontEndFixture::SetUp();
    Load(R"(
rules:
  - {id: login, match: {endpoint: /login}, key_pattern: "ip:{ip}", algorithm: fixed_window,
     limit: 3, window: 1m, ban: {after: 20, within: 1m, for: 15m}}
  - {id: api, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 1000, window: 1m}
)");
    admin_ = std::make_unique<FrontEnd>(loop_, *service_, registry_, readiness_, clock_,
                                        FrontEndSettings{.role = Role::kAdmin});
  }
  void TearDown() override {
    admin_client_.reset();
    admin_.reset();
    TableFrontEndFixture::TearDown();
  }

  // The same request of the admin listener.
  Reply Admin(std::string_view method, std::string_view target, std::string_view body) {
    std::swap(front_end_, admin_);
    std::swap(client_, admin_client_);
    Reply reply = Send(method, target, body);
    std::swap(front_end_, admin_);
    std::swap(client_, admin_client_);
    return reply;
  }
  void Abuse(const std::string& body) {
    for (int i = 0; i < 3 + 20; ++i) {
      const Reply reply = Check(body);
      ASSERT_EQ(reply.status, i < 3 ? 200 : 429) << i;
    }
  }

  std::unique_ptr<FrontEnd> admin_;
  std::unique_ptr<net::FakeClient> admin_client_;
};

constexpr const char* kLogin = R"({"ip": "192.0.2.7", "endpoint": "/login"})";

TEST_F(BanTest, RefusesOutrightAfterSoManyDenials) {
  Abuse(kLogin);
  clock_.Advance(minutes(2));  // The window is a new one; the ban is not over.
  const Reply banned = Check(kLogin);
  EXPECT_EQ(banned.status, 403);
  EXPECT_EQ(banned.object().at("limits").at(0).at("reason").as_string(), "banned");
  EXPECT_EQ(banned.Number("retry_after"), 13 * 60);
  EXPECT_NE(banned.head.find("Retry-After: 780"), std::string::npos);
  EXPECT_EQ(Check(R"({"ip": "192.0.2.8", "endpoint": "/login"})").status, 200);
  EXPECT_EQ(Check(R"({"ip": "192.0.2.7"})").status, 200);  // Another rule's key.
  const Reply status = Send("GET", "/v1/ratelimit/status?ip=192.0.2.7&endpoint=/login", "");
  EXPECT_EQ(status.status, 200);
  EXPECT_EQ(status.object().at("limits").at(0).at("reason").as_string(), "banned");
  clock_.Advance(minutes(13));
  EXPECT_EQ(Check(kLogin).status, 200);
}

TEST_F(BanTest, OperatorsListAndLiftBans) {
  EXPECT_EQ(Admin("GET", "/v1/ratelimit/bans", "").text, R"({"bans":[]})");
  Abuse(kLogin);
  clock_.Advance(seconds(30));
  const Reply list = Admin("GET", "/v1/ratelimit/bans", "");
  ASSERT_EQ(list.status, 200);
  const auto& ban = list.object().at("bans").as_array().at(0).as_object();
  EXPECT_EQ(ban.at("rule").as_string(), "login");
  EXPECT_EQ(ban.at("attributes").at("ip").as_string(), "192.0.2.7");
  EXPECT_EQ(ban.at("left_ms").as_int64(), 870'000);
  EXPECT_EQ(ban.at("until").as_int64() - ban.at("since").as_int64(), 900);
  EXPECT_EQ(Admin("POST", "/v1/ratelimit/unban", kLogin).text, R"({"lifted":1})");
  EXPECT_EQ(Admin("POST", "/v1/ratelimit/unban", kLogin).text, R"({"lifted":0})");
  EXPECT_EQ(Admin("GET", "/v1/ratelimit/bans", "").text, R"({"bans":[]})");
  EXPECT_NE(Check(kLogin).status, 403);
  EXPECT_EQ(Admin("POST", "/v1/ratelimit/unban", "{}").status, 400);
  EXPECT_EQ(Admin("POST", "/v1/ratelimit/unban", R"({"ip": "x"})").status, 400);
  EXPECT_EQ(Send("GET", "/v1/ratelimit/bans", "").status, 404);  // No caller's business.
}

TEST_F(BanTest, AShadowRuleBansNobody) {
  Load(R"(
rules:
  - {id: login, match: {endpoint: /login}, key_pattern: "ip:{ip}", algorithm: fixed_window,
     limit: 3, window: 1m, mode: shadow, ban: {after: 5, within: 1m, for: 15m}}
)");
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(Check(kLogin).status, 200);
  }
  const Reply reply = Check(kLogin);
  EXPECT_EQ(reply.object().at("limits").at(0).at("reason").as_string(), "banned");
}

TEST_F(BanTest, ListsAllowAndDenyByAttributeAndAddress) {
  Load(R"(
rules:
  - {id: office, action: allow, match: {ip: {cidr: 192.0.2.0/24}}}
  - {id: partners, action: allow, match: {user_id: [u_1, u_2]}}
  - {id: blocked, action: deny, match: {ip: [{cidr: 198.51.100.0/24}, 192.0.2.66]}}
  - {id: watched, action: deny, mode: shadow, match: {ip: 203.0.113.9}}
  - {id: api, key_pattern: "ip:{ip}", algorithm: fixed_window, limit: 1, window: 1m}
)");
  for (int i = 0; i < 3; ++i) {
    const Reply office = Check(R"({"ip": "192.0.2.1"})");
    EXPECT_EQ(office.status, 200);
    EXPECT_EQ(office.object().at("limits").as_array().size(), 1U);
    EXPECT_EQ(office.object().at("limits").at(0).at("name").as_string(), "office");
    EXPECT_TRUE(office.object().at("limits").at(0).at("limit").is_null());
    EXPECT_EQ(Check(R"({"ip": "203.0.113.1", "user_id": "u_2"})").status, 200);
  }
  EXPECT_EQ(Check(R"({"ip": "203.0.113.1", "user_id": "u_3"})").status, 200);
  EXPECT_EQ(Check(R"({"ip": "203.0.113.1", "user_id": "u_3"})").status, 429);
  const Reply denied = Check(R"({"ip": "198.51.100.200"})");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.object().at("limits").at(0).at("reason").as_string(), "deny_listed");
  EXPECT_EQ(denied.head.find("Retry-After"), std::string::npos);
  EXPECT_TRUE(denied.object().at("retry_after").is_null());
  EXPECT_EQ(Check(R"({"ip": "192.0.2.66", "user_id": "u_1"})").status, 403);  // Denying wins.
  EXPECT_EQ(Send("GET", "/v1/ratelimit/status?ip=198.51.100.200", "")
                .object()
                .at("limits")
                .at(1)
                .at("remaining")
                .as_int64(),
            1);  // Nobody was charged.
  EXPECT_EQ(Check(R"({"ip": "203.0.113.9"})").status, 200);
  EXPECT_EQ(Check(R"({"ip": "203.0.113.9"})").status, 429);
}

}  // namespace
}  // namespace sluice::frontend::http
