#include "sources/rule_reloader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::sources {
namespace {

using ::testing::HasSubstr;
using Outcome = RuleReloader::Outcome;

std::string Rules(const std::string& limit) {
  return "rules: [{id: r, key_pattern: x, algorithm: fixed_window, window: 1h, limit: " + limit +
         "}]";
}

class RuleReloaderTest : public ::testing::Test {
 protected:
  RuleReloader::Sources source_ = std::vector<rules::SourceText>{};
  std::vector<Units> published_;
  RuleReloader reloader_{
      [this] { return source_; },
      [this](const std::shared_ptr<const rules::RuleSet>& set, const rules::Findings&) {
        published_.push_back(set->rules().front().quota.limit);
      }};

  Outcome ReloadWith(const std::string& text) {
    source_ = std::vector<rules::SourceText>{{"r.yaml", text, false}};
    return reloader_.Reload();
  }
};

TEST_F(RuleReloaderTest, PublishesWhatIsGoodAndOnlyWhatIsNew) {
  EXPECT_EQ(ReloadWith(Rules("1")), Outcome::kPublished);
  EXPECT_EQ(ReloadWith(Rules("1")), Outcome::kUnchanged);
  EXPECT_EQ(ReloadWith(Rules("2")), Outcome::kPublished);
  EXPECT_THAT(published_, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(reloader_.counters().succeeded, 2U);
  EXPECT_EQ(reloader_.counters().failed, 0U);
}

TEST_F(RuleReloaderTest, ABadChangeLeavesTheRunningSetAndIsNewsOnce) {
  ReloadWith(Rules("1"));
  const auto running = reloader_.running();
  EXPECT_EQ(ReloadWith(Rules("-2")), Outcome::kFailed);
  EXPECT_THAT(reloader_.last_error(), HasSubstr("r.yaml:1:77: limit is -2"));
  EXPECT_EQ(reloader_.findings().errors.size(), 1U);
  EXPECT_EQ(ReloadWith(Rules("-2")), Outcome::kStillFailed);
  EXPECT_EQ(ReloadWith(Rules("-3")), Outcome::kFailed);
  EXPECT_EQ(reloader_.running(), running);
  EXPECT_EQ(reloader_.counters().failed, 3U);
  EXPECT_EQ(ReloadWith(Rules("1")), Outcome::kUnchanged);
  EXPECT_EQ(reloader_.last_error(), "");
  EXPECT_EQ(ReloadWith(Rules("-3")), Outcome::kFailed) << "after all was well it is news again";
}

TEST_F(RuleReloaderTest, AFileThatCannotBeReadIsABadChange) {
  ReloadWith(Rules("1"));
  source_ = tl::make_unexpected(std::vector<Error>{{"cannot be read", {"r.yaml", 0, 0}}});
  EXPECT_EQ(reloader_.Reload(), Outcome::kFailed);
  EXPECT_EQ(reloader_.Reload(), Outcome::kStillFailed);
  EXPECT_EQ(reloader_.last_error(), "r.yaml: cannot be read");
  EXPECT_NE(reloader_.running(), nullptr);
}

TEST_F(RuleReloaderTest, AFirstLoadThatFailsReturnsItsFindings) {
  EXPECT_EQ(ReloadWith("rules: [{}]"), Outcome::kFailed);
  EXPECT_GE(reloader_.findings().errors.size(), 3U);
  EXPECT_EQ(reloader_.running(), nullptr);
}

TEST_F(RuleReloaderTest, WarnsOfFreshStartsAgainstTheRunningSet) {
  ReloadWith(Rules("1"));
  ReloadWith("rules: [{id: r, key_pattern: x, algorithm: fixed_window, window: 2h, limit: 1}]");
  ASSERT_EQ(reloader_.findings().warnings.size(), 1U);
  EXPECT_THAT(reloader_.findings().warnings.front().message,
              HasSubstr("start with their full limit"));
}

}  // namespace
}  // namespace sluice::sources
