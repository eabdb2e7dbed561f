#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/checks.h"
#include "doctor/gather.h"

// Each check of a running daemon: the facts of a healthy one, and those with a fault in them.
namespace sluice::app::doctor {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr WallInstant kNow{std::chrono::hours(24 * 365 * 50)};

constexpr std::string_view kHealthy = R"(# HELP sluice_requests_total Requests by result.
# TYPE sluice_requests_total counter
sluice_requests_total{result="allowed"} 9000
sluice_requests_total{result="denied"} 500
sluice_requests_total{result="no_rule"} 500
sluice_decisions_total{rule="api",outcome="allowed"} 9000
sluice_decisions_total{rule="api",outcome="denied"} 500
sluice_decisions_total{rule="api",outcome="skipped"} 100
sluice_missing_attributes_total{attribute="user_id"} 100
sluice_rule_reloads_total{result="ok"} 3
sluice_rule_reloads_total{result="failed"} 0
sluice_credential_reloads_total{result="failed"} 0
sluice_untrusted_forwarding_total 0
sluice_http_requests_total{listener="127.0.0.1:8080",status="200"} 9500
sluice_http_requests_total{listener="127.0.0.1:8080",status="429"} 500
sluice_http_requests_total{listener="127.0.0.1:8080",status="400"} 3
sluice_connections_refused_total 0
sluice_peer_connections_refused_total 0
sluice_table_slots 1250000
sluice_table_live_slots 900000
sluice_table_blocks 250000
sluice_table_blocks_in_use 100
sluice_table_inserts_total 1200
sluice_table_evictions_total 0
sluice_table_full_denials_total 0
sluice_table_full_allows_total 0
sluice_table_snapshots_total 20
sluice_table_snapshot_failures_total 0
sluice_table_snapshot_age_seconds 4.5
sluice_redis_connections_up 2
sluice_redis_breakers_open 0
sluice_redis_calls_total{result="answered"} 9500
sluice_redis_calls_total{result="timed_out"} 3
sluice_redis_calls_total{result="failed"} 0
)";

DaemonFacts Healthy(const std::string& more = "") {
  DaemonFacts facts{.server = "http://127.0.0.1:6070"};
  facts.now = telemetry::Samples(more + std::string(kHealthy));
  facts.recent = facts.now;
  facts.period = "since the daemon started";
  facts.uptime = std::chrono::hours(24 * 30);
  facts.rules = {{.id = "api", .mode = "enforce", .configured_mode = "enforce", .source = "file"}};
  facts.busy_keys = {
      {.rule = "api",
       .total = 9500,
       .keys = {{.text = "ip=198.51.100.7", .count = 300}, {.text = "ip=10.0.0.1", .count = 200}}}};
  return facts;
}

std::string FoundIn(const DaemonFacts& daemon) {
  Facts facts;
  facts.now = kNow;
  facts.daemon = daemon;
  std::string lines;
  for (const Finding& finding : CheckAll(facts)) {
    lines += std::string(NameOf(finding.severity)) + ' ' + std::string(finding.check) + ": " +
             ErrorOf(finding).message + '\n';
  }
  return lines;
}

// With these samples before the healthy ones: sums grow by them.
std::string FoundWith(const std::string& samples) {
  return FoundIn(Healthy(samples + "\n"));
}

TEST(DaemonChecksTest, AHealthyDaemonCausesNothing) {
  EXPECT_EQ(FoundIn(Healthy()), "");
}

TEST(DaemonChecksTest, ADaemonThatDoesNotAnswerIsAProblem) {
  DaemonFacts facts{.server = "http://127.0.0.1:1", .failure = "cannot connect"};
  EXPECT_THAT(FoundIn(facts), HasSubstr("problem daemon-unreachable: http://127.0.0.1:1 does not"));
  facts.refused = true;
  EXPECT_THAT(FoundIn(facts), HasSubstr("warning daemon-refuses"));
  DaemonFacts starting = Healthy();
  starting.ready = false;
  EXPECT_THAT(FoundIn(starting), HasSubstr("problem daemon-not-ready"));
}

TEST(DaemonChecksTest, NothingListensThereAndThatIsSaidAtOnce) {
  const DaemonFacts facts = AskForFacts("http://127.0.0.1:1", "", kNow);
  EXPECT_THAT(facts.failure, HasSubstr("cannot connect"));
  EXPECT_FALSE(facts.refused);
}

TEST(DaemonChecksTest, WhatOperatorsLeftOnIsNamed) {
  DaemonFacts killed = Healthy();
  killed.kill_switch = true;
  EXPECT_THAT(FoundIn(killed), HasSubstr("problem kill-switch-on"));

  DaemonFacts set = Healthy();
  set.rules.front().mode = "off";
  EXPECT_THAT(FoundIn(set), AllOf(HasSubstr("warning mode-set: rule api: its mode is off"),
                                  HasSubstr("sluice mode api enforce")));

  DaemonFacts shadow = Healthy();
  shadow.rules.front().mode = "shadow";
  shadow.rules.front().configured_mode = "shadow";
  EXPECT_THAT(FoundIn(shadow), HasSubstr("shadow-for-long: rule api is in shadow mode, and the "
                                         "daemon runs for 30 days"));
  shadow.uptime = std::chrono::hours(24);
  EXPECT_EQ(FoundIn(shadow), "");
}

TEST(DaemonChecksTest, RejectedFilesAreNamed) {
  EXPECT_THAT(FoundWith("sluice_rule_reloads_total{result=\"failed\"} 2"),
              HasSubstr("warning rules-rejected: 2 loads of the rules failed since the daemon"));
  EXPECT_THAT(FoundWith("sluice_credential_reloads_total{result=\"failed\"} 1"),
              HasSubstr("warning credentials-rejected: 1 load of"));
}

TEST(DaemonChecksTest, PeriodsWithoutLimitsAreNamed) {
  DaemonFacts facts = Healthy();
  facts.fail_open = {{.cause = "store",
                      .begin = kNow - std::chrono::minutes(20),
                      .end = kNow - std::chrono::minutes(19)}};
  EXPECT_THAT(FoundIn(facts), AllOf(HasSubstr("warning fail-open-period: 20 minutes ago"),
                                    HasSubstr("lasted 60 s")));
  facts.fail_open.front().end = std::nullopt;
  EXPECT_THAT(FoundIn(facts),
              AllOf(HasSubstr("problem fail-open-period"), HasSubstr("lasts for 1200 s")));
}

TEST(DaemonChecksTest, RequestsThatNoRuleMeetsAreCounted) {
  EXPECT_THAT(
      FoundWith("sluice_requests_total{result=\"no_rule\"} 20000"),
      HasSubstr("warning no-rule-applies: no rule applied to 20500 of 30000 requests (68%)"));
  EXPECT_THAT(FoundWith("sluice_decisions_total{rule=\"plan\",outcome=\"skipped\"} 950\n"
                        "sluice_decisions_total{rule=\"plan\",outcome=\"allowed\"} 50"),
              AllOf(HasSubstr("warning attribute-missing: rule plan was skipped by 950 of 1000"),
                    HasSubstr("missing: user_id (100 times)")));
}

TEST(DaemonChecksTest, AddressesOfProxiesAreRecognised) {
  EXPECT_THAT(FoundWith("sluice_untrusted_forwarding_total 12"),
              HasSubstr("warning untrusted-forwarding: 12 requests"));
  DaemonFacts facts = Healthy();
  facts.busy_keys.front().keys = {{.text = "ip=10.0.0.1", .count = 9000},
                                  {.text = "ip=10.0.0.2, path=/a", .count = 500}};
  EXPECT_THAT(FoundIn(facts), HasSubstr("one-client-address: rule api: 100% of its 9500 requests "
                                        "came from 10.0.0.1, 10.0.0.2"));
  facts.busy_keys.front().keys.front().text = "ip=198.51.100.7";
  EXPECT_EQ(FoundIn(facts), "");
}

TEST(DaemonChecksTest, KeysThatGrowWithTheRequestsAreNamed) {
  EXPECT_THAT(FoundWith("sluice_table_inserts_total 8000"),
              HasSubstr("warning keys-grow: 9500 decisions made 9200 new keys"));
}

TEST(DaemonChecksTest, SpellingsOfOneClientAreNamed) {
  const auto spelled = [](const std::string& one, const std::string& other) {
    DaemonFacts facts = Healthy();
    facts.busy_keys = {{.rule = "api", .total = 9, .keys = {{.text = one}, {.text = other}}}};
    return FoundIn(facts);
  };
  EXPECT_THAT(
      spelled("user=Ann", "user=ann"),
      HasSubstr("warning several-spellings: rule api: 1 of its busiest keys is a spelling of "
                "another one: user=Ann and user=ann differ by case"));
  EXPECT_THAT(spelled("path=/a/", "path=/a"), HasSubstr("differ by a slash or dot at the end"));
  EXPECT_THAT(spelled("path=/a%20b", "path=/a b"), HasSubstr("differ by percent-encoding"));
  EXPECT_THAT(spelled("peer=::ffff:192.0.2.1", "peer=192.0.2.1:443"),
              HasSubstr("differ by the form of an address, or its port"));
  EXPECT_EQ(spelled("user=ann", "user=anna"), "");
  EXPECT_EQ(spelled("peer=192.0.2.1", "peer=192.0.2.10"), "");
}

TEST(DaemonChecksTest, CallersThatFailAreNamed) {
  EXPECT_THAT(
      FoundWith("sluice_http_requests_total{listener=\"127.0.0.1:8080\",status=\"400\"} 300"),
      HasSubstr("warning callers-fail: listener 127.0.0.1:8080 answered 400 303 times"));
  EXPECT_THAT(FoundWith("sluice_connections_refused_total 7"),
              HasSubstr("warning connections-refused: 7 connections were refused"));
  EXPECT_THAT(FoundWith("sluice_peer_connections_refused_total 7"),
              HasSubstr("warning connections-refused: 7 connections of one address"));
}

TEST(DaemonChecksTest, ATableThatFillsIsNamed) {
  EXPECT_THAT(FoundWith("sluice_table_live_slots 200000"),
              HasSubstr("warning table-nearly-full: 1100000 of 1250000 slots"));
  EXPECT_THAT(FoundWith("sluice_table_blocks_in_use 240000"),
              HasSubstr("warning table-nearly-full: 240100 of 250000 blocks"));
  EXPECT_THAT(FoundWith("sluice_table_evictions_total 5"), HasSubstr("warning table-full: 5 keys"));
  EXPECT_THAT(FoundWith("sluice_table_full_denials_total 5"), HasSubstr("problem table-full: 5"));
  EXPECT_THAT(FoundWith("sluice_table_full_allows_total 5"), HasSubstr("problem table-full: 5"));
}

TEST(DaemonChecksTest, SnapshotsThatFailOrAgeAreNamed) {
  EXPECT_THAT(FoundWith("sluice_table_snapshot_failures_total 4"),
              HasSubstr("warning snapshots-fail: 4 snapshots could not be written"));
  EXPECT_THAT(FoundWith("sluice_table_snapshot_age_seconds 1000"),
              HasSubstr("warning snapshots-fail: the newest snapshot is 100"));
}

TEST(DaemonChecksTest, ARedisThatIsAwayOrSlowIsNamed) {
  EXPECT_THAT(
      FoundWith("sluice_decisions_total{rule=\"api\",outcome=\"degraded_local\"} 40"),
      HasSubstr("warning store-degraded: 40 decisions were made without the store since the "
                "daemon started (local 40)"));
  EXPECT_THAT(FoundWith("sluice_redis_breakers_open 1"), HasSubstr("problem redis-unreachable"));
  EXPECT_THAT(FoundWith("sluice_redis_connections_up -2"),
              HasSubstr("the daemon has no connection to Redis"));
  EXPECT_THAT(FoundWith("sluice_redis_calls_total{result=\"failed\"} 6"),
              HasSubstr("warning redis-errors: Redis answered 6 of 9509 calls with an error"));
  EXPECT_THAT(FoundWith("sluice_redis_calls_total{result=\"timed_out\"} 500"),
              HasSubstr("warning redis-slow: 503 of 10003 calls"));
}

TEST(DaemonChecksTest, CertificatesThatADaemonShowsAreLookedAt) {
  const auto days = [](int count) {
    const auto at = kNow.time_since_epoch() + std::chrono::hours(24 * count);
    return FoundWith("sluice_tls_certificate_expiry_timestamp_seconds{listener=\"0.0.0.0:8443\"} " +
                     std::to_string(at / std::chrono::seconds(1)));
  };
  EXPECT_THAT(days(3), HasSubstr("warning certificate-expires: the certificate of listener "
                                 "0.0.0.0:8443 expires in 3 days"));
  EXPECT_THAT(days(-1), HasSubstr("problem certificate-expires"));
  EXPECT_EQ(days(20), "");
}

TEST(DaemonChecksTest, ALimitThatAllTrafficDoesNotReachIsNoted) {
  const auto found = [](const std::string& numbers, double busiest) {
    Facts facts;
    facts.daemon = Healthy();
    facts.daemon->minutes = 60;
    facts.daemon->busiest_minute["api"] = busiest;
    rules::Findings problems;
    const rules::SourceText source{
        .name = "r.yaml",
        .text = "rules: [{id: api, key_pattern: \"{user_id}\", cost: 1, " + numbers + "}]"};
    facts.configuration.emplace().rules = rules::RuleSet::Build({&source, 1}, nullptr, problems);
    FindingList findings;
    CheckTraffic(facts, findings);
    return findings.empty() ? "" : ErrorOf(findings.front()).message;
  };
  const std::string bucket = "algorithm: token_bucket, rate: 1000, window: 1m, burst: 1000";
  EXPECT_THAT(found(bucket, 300), HasSubstr("all of its keys together had at most 300 requests"));
  EXPECT_EQ(found(bucket, 1001), "");
  EXPECT_EQ(found("algorithm: token_bucket, rate: 1000, window: 1m, burst: 100", 300), "");
  EXPECT_NE(found("algorithm: fixed_window, limit: 1000000, window: 1h", 300), "");
  EXPECT_EQ(found("algorithm: fixed_window, limit: 10000, window: 1h", 300), "");
}

}  // namespace
}  // namespace sluice::app::doctor
