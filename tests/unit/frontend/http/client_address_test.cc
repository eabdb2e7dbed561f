#include "frontend/http/client_address.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::frontend::http {
namespace {

// The client's address as text, for a request from `peer` with these lines of the field.
std::string Find(const std::string& peer, const std::vector<std::string>& lines,
                 const ForwardingSettings& settings = {}) {
  wire::HttpRequest request;
  request.fields.push_back({"Host", "h"});
  for (const std::string& line : lines) {
    request.fields.push_back({settings.header, line});
  }
  const ClientAddress found = FindClientAddress(request, peer, settings);
  std::string text = found.address ? std::string(found.address->Text().view()) : "none";
  return found.untrusted ? text + " untrusted" : text;
}

ForwardingSettings Trusting(const std::vector<std::string>& blocks,
                            const std::string& header = "X-Forwarded-For") {
  ForwardingSettings settings{.trusted = {}, .header = header};
  for (const std::string& block : blocks) {
    settings.trusted.push_back(*rules::IpPrefix::Parse(block));
  }
  return settings;
}

TEST(ClientAddressTest, AStrangersWordIsIgnoredAndNoted) {
  EXPECT_EQ(Find("192.0.2.7", {"198.51.100.1"}), "192.0.2.7 untrusted");
  EXPECT_EQ(Find("192.0.2.7", {}), "192.0.2.7");
}

TEST(ClientAddressTest, ThisHostsProxyIsBelieved) {
  EXPECT_EQ(Find("127.0.0.1", {"198.51.100.1"}), "198.51.100.1");
  EXPECT_EQ(Find("::1", {"2001:db8::5"}), "2001:db8::5");
  EXPECT_EQ(Find("127.0.0.1", {}), "127.0.0.1");
}

TEST(ClientAddressTest, WhatAClientWroteItselfStandsFurtherLeft) {
  EXPECT_EQ(Find("127.0.0.1", {"10.9.9.9, 203.0.113.8, 198.51.100.1"}), "198.51.100.1");
}

TEST(ClientAddressTest, TrustedHopsArePassedOver) {
  const auto settings = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(Find("10.0.0.1", {"203.0.113.8, 198.51.100.1, 10.0.0.3,10.0.0.2"}, settings),
            "198.51.100.1");
  EXPECT_EQ(Find("10.0.0.1", {"10.0.0.3, 10.0.0.2"}, settings), "10.0.0.3");
}

TEST(ClientAddressTest, SeveralLinesAreOneListInTheirOrder) {
  const auto settings = Trusting({"10.0.0.0/8"});
  EXPECT_EQ(Find("10.0.0.1", {"203.0.113.8", "198.51.100.1", "10.0.0.2"}, settings),
            "198.51.100.1");
}

TEST(ClientAddressTest, AHopThatIsNoAddressEndsTheWalkAndIsNeverJumped) {
  const auto settings = Trusting({"10.0.0.0/8"});
  for (const char* bad : {"unknown", "_hidden", "", "300.1.1.1", "example.org"}) {
    EXPECT_EQ(Find("10.0.0.1", {std::string("203.0.113.8, ") + bad + ", 10.0.0.2"}, settings),
              "10.0.0.2")
        << bad;
  }
  EXPECT_EQ(Find("10.0.0.1", {"203.0.113.8", "nonsense"}, settings), "10.0.0.1");
}

TEST(ClientAddressTest, PortsAndBracketsAndMappedAddressesAreRead) {
  EXPECT_EQ(Find("127.0.0.1", {"198.51.100.1:4711"}), "198.51.100.1");
  EXPECT_EQ(Find("127.0.0.1", {"[2001:db8::5]:443"}), "2001:db8::5");
  EXPECT_EQ(Find("127.0.0.1", {"::ffff:198.51.100.1"}), "198.51.100.1");
}

TEST(ClientAddressTest, ReadsForwardedToo) {
  const auto settings = Trusting({"10.0.0.0/8"}, "Forwarded");
  EXPECT_EQ(Find("10.0.0.1",
                 {R"(for=203.0.113.8, for="[2001:db8::5]:443";proto=https, By=x;For=10.0.0.2)"},
                 settings),
            "2001:db8::5");
  EXPECT_EQ(Find("10.0.0.1", {"for=203.0.113.8, proto=https"}, settings), "10.0.0.1");
}

TEST(ClientAddressTest, APeerThatHasNoAddressIsNone) {
  EXPECT_EQ(Find("", {"198.51.100.1"}), "none untrusted");
}

}  // namespace
}  // namespace sluice::frontend::http
