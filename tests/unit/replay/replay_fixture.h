#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "logs/log_merge.h"
#include "replay/log_replay.h"
#include "rules/rule_set.h"
#include "unit/logs/log_files.h"

namespace sluice::replay {

// Runs rules over small logs.
class ReplayTest : public logs::LogFilesTest {
 protected:
  // A combined line of 192.0.2.`host`, `second` seconds after nine.
  static std::string Line(int second, int host, const std::string& path = "/p") {
    const auto two = [](int n) { return std::string(n < 10 ? "0" : "") + std::to_string(n); };
    return "192.0.2." + std::to_string(host) + " - - [17/Dec/2025:" + two(9 + (second / 3600)) +
           ":" + two(second / 60 % 60) + ":" + two(second % 60) + " +0000] \"GET " + path +
           " HTTP/1.1\" 200 5 \"-\" \"-\"\n";
  }

  ReplayReport Run(const std::string& rules, const std::string& log) {
    const std::vector<rules::SourceText> sources{{.name = "rules.yaml", .text = rules}};
    rules::Findings findings;
    const auto set = rules::RuleSet::Build(sources, nullptr, findings);
    if (set == nullptr) {
      ADD_FAILURE() << findings.errors.front().Text();
      return {};
    }
    std::vector<std::string> names = set->AttributeNames();
    if (options_.profile) {
      names.insert(names.end(), kProfileAttributes.begin(), kProfileAttributes.end());
    }
    const logs::AttributePlan plan(names, maps_, cost_);
    auto logs = logs::LogMerge::Open({Write("log", log)}, {}, plan);
    if (!logs) {
      ADD_FAILURE() << logs.error().Text();
      return {};
    }
    LogReplay replay(options_, set, plan);
    const auto ran = replay.Run(*logs, [] {});
    EXPECT_TRUE(ran);
    return replay.Report(*logs);
  }

  LogReplayOptions options_{.keys = 1000};
  std::map<std::string, std::string> maps_;
  std::string cost_;
};

}  // namespace sluice::replay
