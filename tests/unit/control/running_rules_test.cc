#include "control/running_rules.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/scripted_store.h"
#include "support/temporary_folder.h"
#include "telemetry/registry.h"

namespace sluice::control {
namespace {

using ::testing::HasSubstr;
using Outcome = RunningRules::Outcome;

std::string Rules(const std::string& limit, const std::string& id = "r") {
  return "rules: [{id: " + id +
         ", key_pattern: x, algorithm: fixed_window, window: 1h, limit: " + limit + "}]";
}

class RunningRulesTest : public ::testing::Test {
 protected:
  RunningRulesTest() : running_(service_, metrics_, sources_, Files()) {}

  sources::FileSource Files() {
    sources_ = {.files = {file_.string()},
                .folder = (folder_.path() / "api").string(),
                .review = [this](const rules::RuleSet& set, rules::Findings& findings) {
                  if (set.Find(refused_) != nullptr) {
                    findings.errors.push_back({.message = "refused by review"});
                  }
                }};
    return *sources::FileSource::Create(sources_.files);
  }
  Outcome ReloadWith(const std::string& text) {
    std::ofstream(file_) << text;
    const auto before = service_.Rules();
    const Outcome outcome = running_.Reload();
    running_.Report("test", outcome);
    if (const auto now = service_.Rules(); now != before) {
      published_.push_back(now->rules().front().quota.limit);
    }
    return outcome;
  }
  // What sluice_rule_reloads_total says: "1 ok, 0 failed".
  [[nodiscard]] std::string Counted() {
    telemetry::Registry registry;
    registry.Add(metrics_);
    const std::string text = registry.Text();
    const auto count = [&](const std::string& result) {
      const std::string name = "sluice_rule_reloads_total{result=\"" + result + "\"} ";
      const std::size_t at = text.find(name) + name.size();
      return text.substr(at, text.find('\n', at) - at);
    };
    return count("ok") + " ok, " + count("failed") + " failed";
  }

  const support::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "r.yaml";
  support::ScriptedStore store_;
  service::ServiceMetrics metrics_;
  service::LimiterService service_{store_, metrics_};
  std::string refused_ = "-";
  RuleSources sources_;
  std::vector<Units> published_;
  RunningRules running_;
};

TEST_F(RunningRulesTest, PublishesWhatIsGoodAndOnlyWhatIsNew) {
  EXPECT_EQ(ReloadWith(Rules("1")), Outcome::kPublished);
  EXPECT_EQ(ReloadWith(Rules("1")), Outcome::kUnchanged);
  EXPECT_EQ(ReloadWith(Rules("2")), Outcome::kPublished);
  EXPECT_THAT(published_, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(Counted(), "2 ok, 0 failed");
}

TEST_F(RunningRulesTest, ABadChangeLeavesTheRunningSetAndIsNewsOnce) {
  ReloadWith(Rules("1"));
  const auto running = running_.set();
  EXPECT_EQ(ReloadWith(Rules("-2")), Outcome::kFailed);
  EXPECT_THAT(running_.last_error(), HasSubstr("r.yaml:1:77: limit is -2"));
  EXPECT_EQ(running_.findings().errors.size(), 1U);
  EXPECT_EQ(ReloadWith(Rules("-2")), Outcome::kStillFailed);
  EXPECT_EQ(ReloadWith(Rules("-3")), Outcome::kFailed);
  EXPECT_EQ(running_.set(), running);
  EXPECT_EQ(Counted(), "1 ok, 3 failed");
  EXPECT_EQ(ReloadWith(Rules("1")), Outcome::kUnchanged);
  EXPECT_EQ(running_.last_error(), "");
  EXPECT_EQ(ReloadWith(Rules("-3")), Outcome::kFailed) << "after all was well it is news again";
}

TEST_F(RunningRulesTest, AFileThatCannotBeReadIsABadChange) {
  ReloadWith(Rules("1"));
  std::filesystem::remove(file_);
  std::filesystem::create_directory(file_);
  EXPECT_EQ(running_.Reload(), Outcome::kFailed);
  EXPECT_EQ(running_.Reload(), Outcome::kStillFailed);
  EXPECT_THAT(running_.last_error(), HasSubstr("r.yaml: is a directory: name its files"));
  EXPECT_NE(running_.set(), nullptr);
}

TEST_F(RunningRulesTest, AFirstLoadThatFailsReturnsItsFindings) {
  EXPECT_EQ(ReloadWith("rules: [{}]"), Outcome::kFailed);
  EXPECT_GE(running_.findings().errors.size(), 3U);
  EXPECT_EQ(running_.set(), nullptr);
}

TEST_F(RunningRulesTest, WarnsOfFreshStartsAgainstTheRunningSet) {
  ReloadWith(Rules("1"));
  ReloadWith("rules: [{id: r, key_pattern: x, algorithm: fixed_window, window: 2h, limit: 1}]");
  ASSERT_EQ(running_.findings().warnings.size(), 1U);
  EXPECT_THAT(running_.findings().warnings.front().message,
              HasSubstr("start with their full limit"));
}

TEST_F(RunningRulesTest, ARuleOfTheApiRunsBesideWhatRunsAndNotBesideWhatTheFilesSay) {
  ReloadWith(Rules("1"));
  std::ofstream(file_) << "rules: [";  // Somebody is writing it.
  ASSERT_TRUE(running_.Put("s", Rules("5", "s")));
  ASSERT_NE(running_.set()->Find("s"), nullptr);
  EXPECT_EQ(running_.set()->Find("r")->quota.limit, 1);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "api" / "rules" / "s.json"));
  ASSERT_TRUE(running_.Erase("s", "test"));
  EXPECT_EQ(running_.set()->Find("s"), nullptr);
}

TEST_F(RunningRulesTest, ARefusedRuleOfTheApiChangesNothing) {
  ReloadWith(Rules("1"));
  const auto running = running_.set();
  const auto invalid = running_.Put("s", "\n" + Rules("-5", "s"));
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().code, ErrorCode::kInvalid);
  ASSERT_EQ(invalid.error().errors.size(), 1U);
  EXPECT_EQ(invalid.error().errors.front().place.file, "") << "the body has no file";
  EXPECT_EQ(invalid.error().errors.front().place.line, 1);
  refused_ = "s";
  const auto reviewed = running_.Put("s", Rules("5", "s"));
  ASSERT_FALSE(reviewed);
  EXPECT_EQ(reviewed.error().detail, "refused by review");
  EXPECT_EQ(running_.set(), running);
}

TEST_F(RunningRulesTest, AChangeThatCannotBeStoredChangesNothing) {
  ReloadWith(Rules("1"));
  std::ofstream(folder_.path() / "api") << "a file where the folder should be";
  const auto running = running_.set();
  const auto put = running_.Put("s", Rules("5", "s"));
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, ErrorCode::kNotStored);
  EXPECT_EQ(running_.set(), running);
  EXPECT_TRUE(running_.api().documents().empty());
}

}  // namespace
}  // namespace sluice::control
