#include "sources/api_rules.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sources/files.h"
#include "support/temporary_folder.h"

namespace sluice::sources {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBody =
    R"({"key_pattern": "user:{user_id}", "algorithm":"gcra",	"rate":100,"window":"1m"})";

std::string Document(std::string_view id, std::string_view body) {
  rules::Findings findings;
  return RuleDocument(id, body, findings);
}

std::shared_ptr<const rules::RuleSet> Built(const std::string& document) {
  rules::Findings findings;
  const rules::SourceText source{.name = "api:x", .text = document};
  return rules::RuleSet::Build({&source, 1}, nullptr, findings);
}

TEST(RuleDocumentTest, GivesTheBodyItsIdAndKeepsItsPlaces) {
  const auto set = Built(Document("api_rate", kBody));
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->rules().front().id, "api_rate");
  EXPECT_EQ(set->rules().front().source, "api");
  rules::Findings findings;
  const rules::SourceText wrong{.name = "x", .text = Document("a", "{\n  \"perid\": 1}")};
  EXPECT_EQ(rules::RuleSet::Build({&wrong, 1}, nullptr, findings), nullptr);
  EXPECT_EQ(findings.errors.front().place.line - kLinesBeforeBody, 2);
  EXPECT_EQ(findings.errors.front().place.column, 3);
}

TEST(RuleDocumentTest, TakesEscapesAsJsonWritesThem) {
  const std::string smile = Document("a", R"({"key_pattern": "\ud83d\ude00 \\ud83d \u00e9"})");
  EXPECT_NE(smile.find(R"("\U0001f600 \\ud83d \u00e9")"), std::string::npos) << smile;
  EXPECT_TRUE(Document("a", R"({"key_pattern": "\ud83d"})").empty()) << "half of a character";
  EXPECT_TRUE(Document("a", "{}\\").empty());
}

TEST(RuleDocumentTest, ABodyMayNameItsIdButNoOther) {
  EXPECT_NE(
      Built(Document("a", R"({"id": "a", "key_pattern": "u:{u}", "algorithm": "gcra", "rate": 1,
                         "window": "1s"})")),
      nullptr);
  EXPECT_EQ(Document("a", R"({"id": "b", "limit": 1})"), "");
}

TEST(RuleDocumentTest, WhatIsNotOneObjectIsRefused) {
  for (const std::string_view body :
       {"", "[]", "3", "rate: 1", "{", R"({"rate": 1}, {"id": "other"})", R"({"rate": 1}]} x: [{)",
        "{\"rate\": 1}\n---\n{}", R"({"rate": 1, "rate": 2})"}) {
    EXPECT_EQ(Document("a", body), "") << body;
  }
}

class ApiRulesTest : public testing::Test {
 protected:
  const support::TemporaryFolder temporary_;
  const fs::path root_ = temporary_.path();
};

TEST_F(ApiRulesTest, WhatIsPutIsThereAfterARestart) {
  const std::string folder = (root_ / "not/there/yet").string();
  ApiRules first(folder);
  ASSERT_TRUE(first.Load());
  ASSERT_TRUE(first.Put("a", "one"));
  ASSERT_TRUE(first.Put("b", "two"));
  ASSERT_TRUE(first.Put("a", "three"));
  ASSERT_TRUE(first.Erase("b"));
  ApiRules second(folder);
  ASSERT_TRUE(second.Load());
  EXPECT_EQ(second.documents(), (ApiRules::Documents{{"a", "three"}}));
}

TEST_F(ApiRulesTest, AHalfWrittenFileIsNoRule) {
  std::ofstream(root_ / "a.json.new") << "half";
  std::ofstream(root_ / "notes.txt") << "none";
  ApiRules rules(root_.string());
  ASSERT_TRUE(rules.Load());
  EXPECT_TRUE(rules.documents().empty());
}

TEST_F(ApiRulesTest, WhatCannotBeKeptChangesNothing) {
  std::ofstream(root_ / "file") << "in the way";
  ApiRules rules((root_ / "file" / "folder").string());
  EXPECT_FALSE(rules.Put("a", "one"));
  EXPECT_TRUE(rules.documents().empty());
}

TEST_F(ApiRulesTest, ADurableFileIsReplacedWhole) {
  const std::string path = (root_ / "f").string();
  ASSERT_TRUE(WriteDurably(path, "a longer text"));
  ASSERT_TRUE(WriteDurably(path, "short"));
  std::ifstream stream(path);
  std::string text;
  std::getline(stream, text);
  EXPECT_EQ(text, "short");
  EXPECT_FALSE(fs::exists(path + ".new"));
  EXPECT_TRUE(RemoveDurably(path));
  EXPECT_TRUE(RemoveDurably(path));
}

}  // namespace
}  // namespace sluice::sources
