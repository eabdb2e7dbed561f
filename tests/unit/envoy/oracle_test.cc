// Random histories against envoyproxy/ratelimit's way of deciding, written down as plainly as it
// can be: a map of counters, INCRBY, and the rules for a response.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/envoy/call_fixture.h"

namespace sluice::envoy {
namespace {

using wire::RlsCode;

constexpr const char* kOracleTree = R"(
domain: d
descriptors:
  - key: minute
    rate_limit: {unit: minute, requests_per_unit: 5}
  - key: hour
    rate_limit: {unit: hour, requests_per_unit: 40}
  - key: shadow
    shadow_mode: true
    rate_limit: {unit: minute, requests_per_unit: 3}
  - key: quota
    quota_mode: true
    rate_limit: {unit: minute, requests_per_unit: 4}
  - key: nothing
    rate_limit: {unit: second, requests_per_unit: 0}
  - key: free
    rate_limit: {unlimited: true}
)";

struct OracleLimit {
  std::int64_t seconds = 0;  // 0: unlimited.
  std::uint64_t requests = 0;
  bool shadow = false;
  bool quota = false;
};

const std::map<std::string, OracleLimit> kLimits{
    {"minute", {.seconds = 60, .requests = 5}},
    {"hour", {.seconds = 3600, .requests = 40}},
    {"shadow", {.seconds = 60, .requests = 3, .shadow = true}},
    {"quota", {.seconds = 60, .requests = 4, .quota = true}},
    {"nothing", {.seconds = 1, .requests = 0}},
    {"free", {}}};

class Oracle {
 public:
  struct Status {
    bool over = false;
    std::uint64_t remaining = 0;
    std::int64_t reset = 0;
    bool operator==(const Status&) const = default;
  };
  struct Answer {
    bool over = false;
    std::vector<Status> statuses;
  };

  Answer Ask(const std::vector<RlsDescriptorText>& descriptors, std::uint32_t request_hits,
             std::int64_t now) {
    Answer answer;
    bool plain_over = false;
    int quotas = 0;
    int quotas_over = 0;
    for (const RlsDescriptorText& descriptor : descriptors) {
      const auto& [key, value] = descriptor.entries[0];
      OracleLimit limit;
      Status status;
      if (descriptor.limit) {
        constexpr std::int64_t kSeconds[] = {0, 1, 60, 3600};
        limit = {.seconds = kSeconds[descriptor.limit->second],
                 .requests = descriptor.limit->first};
      } else if (const auto found = kLimits.find(key); found != kLimits.end()) {
        limit = found->second;
        if (limit.seconds == 0) {
          answer.statuses.push_back({.over = false, .remaining = 4'294'967'295U});
          continue;
        }
      } else {
        answer.statuses.push_back(status);
        continue;
      }
      const std::uint64_t hits = descriptor.hits.value_or(std::max<std::uint64_t>(1, request_hits));
      const std::int64_t start = now / limit.seconds * limit.seconds;
      // The unit is not in the old service's name of a counter; two units' counters here are two.
      std::uint64_t& counter = counters_[key + "_" + value + "_" + std::to_string(start) + "/" +
                                         std::to_string(limit.seconds)];
      counter += hits;
      status.over = counter > limit.requests;
      status.remaining = status.over ? 0 : limit.requests - counter;
      status.reset = limit.seconds - now % limit.seconds;
      status.over = status.over && !limit.shadow;
      if (limit.quota) {
        ++quotas;
        quotas_over += status.over ? 1 : 0;
      } else {
        plain_over = plain_over || status.over;
      }
      answer.statuses.push_back(status);
    }
    answer.over = plain_over || (quotas > 0 && quotas == quotas_over);
    return answer;
  }

 private:
  std::map<std::string, std::uint64_t> counters_;
};

class OracleTest : public CallFixture, public testing::WithParamInterface<unsigned> {};

TEST_P(OracleTest, EveryAnswerOfAHistoryIsTheOldServices) {
  Configure(kOracleTree);
  Oracle oracle;
  std::mt19937_64 random(GetParam());
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  const std::vector<std::string> keys{"minute", "hour",    "shadow", "quota",
                                      "quota",  "nothing", "free",   "unknown"};
  Duration now(support::ManualClock::kStartNs);
  for (int step = 0; step < 2'000; ++step) {
    std::vector<RlsDescriptorText> descriptors(1 + below(4));
    for (RlsDescriptorText& descriptor : descriptors) {
      descriptor.entries = {
          {keys[below(keys.size())], std::string(1, static_cast<char>('a' + below(2)))}};
      if (below(4) == 0) {
        descriptor.hits = below(4);
      }
      if (below(8) == 0) {
        descriptor.limit = {
            {static_cast<std::uint32_t>(below(6)), static_cast<std::uint32_t>(1 + below(3))}};
      }
    }
    const auto hits = static_cast<std::uint32_t>(below(3));
    const Oracle::Answer expected = oracle.Ask(descriptors, hits, now / std::chrono::seconds(1));
    const Call& call = Ask(descriptors, hits);
    ASSERT_EQ(call.failure, RateLimitCall::Failure::kNone);
    ASSERT_EQ(IsOver(call), expected.over) << step;
    ASSERT_EQ(call.response.statuses.size(), expected.statuses.size());
    for (std::size_t i = 0; i < descriptors.size(); ++i) {
      const wire::RlsStatus& status = call.response.statuses[i];
      const Oracle::Status said{.over = status.code == RlsCode::kOverLimit,
                                .remaining = status.limit_remaining,
                                .reset = status.seconds_until_reset};
      ASSERT_EQ(said, expected.statuses[i])
          << step << ' ' << descriptors[i].entries[0].first << ' ' << said.remaining << " for "
          << expected.statuses[i].remaining << ", " << said.reset << " for "
          << expected.statuses[i].reset;
    }
    const Duration pause(static_cast<std::int64_t>(below(4'000'000'000)));
    clock_.Advance(pause);
    now += pause;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OracleTest, testing::Range(1U, 9U));

}  // namespace
}  // namespace sluice::envoy
