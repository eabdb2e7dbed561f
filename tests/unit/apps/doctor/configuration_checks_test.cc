#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/checks.h"

namespace sluice::app::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kAdmin = "{address: '127.0.0.1:6070', role: admin}";

Facts FactsOf(const std::string& text) {
  ConfigurationFacts facts;
  facts.file = "sluice.yaml";
  facts.config = ReadDaemonConfig(text, facts.file, facts.validation);
  facts.rules = rules::RuleSet::Build({&facts.config.own_rules, 1}, nullptr, facts.validation);
  Facts all;
  all.now = WallInstant(std::chrono::hours(24 * 365 * 50));
  all.configuration = std::move(facts);
  return all;
}

std::string LinesOf(const FindingList& findings) {
  std::string lines;
  for (const Finding& finding : findings) {
    lines += std::string(NameOf(finding.severity)) + ' ' + std::string(finding.check) + ": " +
             ErrorOf(finding).message + '\n';
  }
  return lines;
}

std::string FoundIn(const std::string& text) {
  return LinesOf(CheckAll(FactsOf(text)));
}

// A configuration with these listeners and one rule per address.
std::string With(const std::string& listeners, const std::string& more_rules = "") {
  return "listeners: [" + listeners + "]\nrules:\n" +
         "  - {id: ip, key_pattern: \"{ip}\", algorithm: gcra, rate: 10, window: 1s}\n" +
         more_rules;
}

TEST(ConfigurationChecksTest, AnOrdinaryConfigurationCausesNothing) {
  EXPECT_EQ(FoundIn(With("{address: '127.0.0.1:8080'}, " + std::string(kAdmin))), "");
}

TEST(ConfigurationChecksTest, WhatValidateSaysIsSaidHere) {
  EXPECT_THAT(FoundIn(With("{address: '0.0.0.0:6070', role: admin}")),
              AllOf(HasSubstr("problem invalid-configuration: an admin listener on a non-loopback"),
                    HasSubstr("sluice validate sluice.yaml")));
  EXPECT_THAT(FoundIn(With(std::string(kAdmin) + ", {proxy: {trusted: ['0.0.0.0/0']}}")),
              HasSubstr("warning validation: trusted: 0.0.0.0/0 is every address"));
}

TEST(ConfigurationChecksTest, AConfigurationWithoutRulesLimitsNothing) {
  EXPECT_THAT(FoundIn("loops: 1\n"), HasSubstr("warning no-rules"));
  EXPECT_EQ(FoundIn("envoy: {directory: d}\n"), "");
}

TEST(ConfigurationChecksTest, ListenersThatAnyoneReachesAreNamed) {
  const auto open = [](const std::string& listener) {
    return FoundIn(With(listener + ", " + std::string(kAdmin)));
  };
  EXPECT_THAT(open("{address: '0.0.0.0:6380', protocol: resp}"),
              HasSubstr("warning open-listener"));
  EXPECT_EQ(open("{address: '0.0.0.0:6380', protocol: resp, auth: {password: 0123456789abcdef}}"),
            "");
  EXPECT_THAT(open("{address: '0.0.0.0:8080'}"), HasSubstr("note open-listener"));
  EXPECT_EQ(open("{address: '0.0.0.0:9090', role: metrics}"), "");
  EXPECT_THAT(FoundIn(With("{address: '127.0.0.1:8080'}")), HasSubstr("note no-admin-listener"));
}

TEST(ConfigurationChecksTest, AProxyOnAnotherHostMustBeTrusted) {
  const auto serving = [](const std::string& listener) {
    return FoundIn(With(listener + ", " + std::string(kAdmin)));
  };
  EXPECT_THAT(serving("{address: '0.0.0.0:8080', proxy: {paths: strict}}"),
              AllOf(HasSubstr("warning untrusted-proxy"), HasSubstr("X-Forwarded-For is ignored")));
  EXPECT_EQ(serving("{address: '0.0.0.0:8080', proxy: {trusted: [10.0.0.0/8]}}"), "");
  EXPECT_EQ(serving("{address: '127.0.0.1:8080', proxy: {paths: strict}}"), "");
}

TEST(ConfigurationChecksTest, AKeyThatTheClientChoosesIsNamed) {
  const std::string api =
      "  - {id: api, key_pattern: \"{api_key}\", algorithm: gcra, rate: 5, window: 1s}\n";
  const std::string listeners =
      "{proxy: {headers: {api_key: X-Api-Key}, paths: strict}}, " + std::string(kAdmin);
  EXPECT_THAT(
      FoundIn(With(listeners, api)),
      AllOf(HasSubstr("note client-chosen-key: rule api is counted by api_key, which is the "
                      "header X-Api-Key"),
            Not(HasSubstr("rule ip"))));
  EXPECT_THAT(FoundIn("listeners: [" + listeners + "]\nrules:\n" + api),
              HasSubstr("warning client-chosen-key"));
  EXPECT_EQ(FoundIn(With("{proxy: {trusted_headers: {api_key: X-Api-Key}}}, " + std::string(kAdmin),
                         api)),
            "");
  const std::string pages =
      "  - {id: pages, key_pattern: \"{ip} {endpoint}\", algorithm: gcra, rate: 5, window: 1s";
  EXPECT_THAT(FoundIn(With(listeners, pages + "}\n")),
              HasSubstr("rule pages is counted by endpoint, which the client chooses"));
  EXPECT_EQ(FoundIn(With(listeners, pages + ", match: {endpoint: [/a, /b]}}\n")), "");
}

TEST(ConfigurationChecksTest, CertificatesThatEndSoonAreNamedWithTheirDate) {
  Facts facts = FactsOf(With("{address: '127.0.0.1:8080'}, " + std::string(kAdmin)));
  const auto expiring_in = [&](std::chrono::hours left) {
    facts.configuration->certificates = {
        {.of = "listener 0.0.0.0:8443", .file = "tls.crt", .not_after = facts.now + left}};
    return LinesOf(CheckAll(facts));
  };
  EXPECT_THAT(expiring_in(std::chrono::hours(24 * 13)),
              HasSubstr("warning certificate-expires: the certificate of listener 0.0.0.0:8443 "
                        "expires on 2020-01-02"));
  EXPECT_THAT(expiring_in(std::chrono::hours(-1)),
              AllOf(HasSubstr("problem certificate-expires"), HasSubstr("expired on")));
  EXPECT_EQ(expiring_in(std::chrono::hours(24 * 15)), "");
}

TEST(ConfigurationChecksTest, ATableInMemoryWithoutSnapshotsIsNoted) {
  Facts facts = FactsOf(With("{address: '127.0.0.1:8080'}, " + std::string(kAdmin)));
  facts.configuration->table = {.path = "/dev/shm/t", .snapshot = ""};
  EXPECT_THAT(LinesOf(CheckAll(facts)), HasSubstr("note no-snapshots: the table /dev/shm/t"));
  facts.configuration->table.snapshot = "/var/lib/sluice/t.snapshot";
  EXPECT_EQ(LinesOf(CheckAll(facts)), "");
}

}  // namespace
}  // namespace sluice::app::doctor
