#include "frontend/http/browser_guard.h"

#include <gtest/gtest.h>

namespace sluice::frontend::http {
namespace {

wire::HttpRequest With(const std::vector<wire::HttpField>& fields) {
  wire::HttpRequest request;
  for (const wire::HttpField& field : fields) {
    request.fields.push_back(field);
  }
  return request;
}

TEST(NamesListenerTest, AnAddressNamesTheListenerThatHasIt) {
  const HostNames loopback{.address = "127.0.0.1:6070", .names = {}};
  for (const char* host : {"127.0.0.1:6070", "127.0.0.1", "127.0.0.1:9999", "[::1]:6070",
                           "127.0.0.2", "localhost", "LocalHost.:6070"}) {
    EXPECT_TRUE(NamesListener(host, loopback)) << host;
  }
  for (const char* host :
       {"evil.example", "evil.example:6070", "192.0.2.1", "localhost.evil.example",
        "127.0.0.1.evil.example", "", "0.0.0.0", "[2001:db8::1]"}) {
    EXPECT_FALSE(NamesListener(host, loopback)) << host;
  }
}

TEST(NamesListenerTest, OneThatListensEverywhereHasAnyAddress) {
  for (const char* address : {"0.0.0.0:6070", "[::]:6070"}) {
    const HostNames everywhere{.address = address, .names = {}};
    EXPECT_TRUE(NamesListener("192.0.2.1:6070", everywhere));
    EXPECT_TRUE(NamesListener("[2001:db8::1]:80", everywhere));
    EXPECT_TRUE(NamesListener("localhost", everywhere));
    EXPECT_FALSE(NamesListener("evil.example", everywhere));
  }
  const HostNames one{.address = "192.0.2.1:6070", .names = {}};
  EXPECT_TRUE(NamesListener("192.0.2.1", one));
  EXPECT_FALSE(NamesListener("192.0.2.2", one));
  EXPECT_FALSE(NamesListener("localhost", one));
}

TEST(NamesListenerTest, FurtherNamesAreConfigured) {
  const HostNames named{.address = "127.0.0.1:6070", .names = {"Sluice.internal", "sluice:6070"}};
  EXPECT_TRUE(NamesListener("sluice.INTERNAL.:80", named));
  EXPECT_TRUE(NamesListener("sluice", named));
  EXPECT_FALSE(NamesListener("a.sluice.internal", named));
}

TEST(IsFromForeignPageTest, GoesByWhatABrowserSays) {
  EXPECT_FALSE(IsFromForeignPage(With({{"Host", "127.0.0.1:6070"}})));
  EXPECT_FALSE(
      IsFromForeignPage(With({{"Host", "127.0.0.1:6070"}, {"Origin", "http://127.0.0.1:6070"}})));
  EXPECT_FALSE(IsFromForeignPage(With({{"Host", "a"}, {"Sec-Fetch-Site", "same-origin"}})));
  EXPECT_FALSE(IsFromForeignPage(With({{"Host", "a"}, {"Sec-Fetch-Site", "none"}})));
  for (const char* origin : {"https://evil.example", "null", "", "http://127.0.0.1:6071",
                             "http://127.0.0.1", "file://127.0.0.1:6070"}) {
    EXPECT_TRUE(IsFromForeignPage(With({{"Host", "127.0.0.1:6070"}, {"origin", origin}})))
        << origin;
  }
  for (const char* site : {"cross-site", "same-site", "", "x"}) {
    EXPECT_TRUE(IsFromForeignPage(With({{"Host", "a"}, {"sec-fetch-site", site}}))) << site;
  }
  // Two of them: none may be foreign.
  EXPECT_TRUE(IsFromForeignPage(
      With({{"Host", "a"}, {"Origin", "http://a"}, {"Origin", "http://evil.example"}})));
}

TEST(HasJsonTypeTest, IsWhatNoPageMaySendUnasked) {
  for (const char* type :
       {"application/json", "Application/JSON; charset=utf-8", "application/json ;x"}) {
    EXPECT_TRUE(HasJsonType(With({{"Content-Type", type}}))) << type;
  }
  for (const char* type :
       {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
        "text/plain; application/json", "application/jsonx"}) {
    EXPECT_FALSE(HasJsonType(With({{"Content-Type", type}}))) << type;
  }
  EXPECT_FALSE(HasJsonType(With({})));
  EXPECT_FALSE(
      HasJsonType(With({{"Content-Type", "application/json"}, {"Content-Type", "text/plain"}})));
}

}  // namespace
}  // namespace sluice::frontend::http
