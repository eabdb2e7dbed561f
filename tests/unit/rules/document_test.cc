#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/rules/rules_fixture.h"
#include "yaml/tree.h"

namespace sluice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(DocumentTest, NoRulesMustBeSaid) {
  EXPECT_NE(BuildText("rules: []").set, nullptr);
  EXPECT_THAT(BuildText("").errors(), ElementsAre(HasSubstr("rules: []")));
  EXPECT_THAT(BuildText("# only a comment\n").errors(), ElementsAre(HasSubstr("rules: []")));
  EXPECT_THAT(BuildText("rules:\n").errors(), ElementsAre(HasSubstr("rules: []")));
  EXPECT_THAT(BuildText("attributes: {}").errors(), ElementsAre(HasSubstr("rules is missing")));
  EXPECT_THAT(BuildText("rules: {}").errors(), ElementsAre(HasSubstr("must be a list")));
  EXPECT_THAT(BuildText("[]").errors(), ElementsAre(HasSubstr("is a map")));
  EXPECT_NE(BuildAll({}).set, nullptr);
}

TEST(DocumentTest, OnlyAConfigurationHoldsTheDaemonsSections) {
  const std::string text = "listeners: []\nstore: table\ntable: {}\nrule_sources: []\n";
  EXPECT_THAT(BuildText(text + "rules: []").errors(), SizeIs(4));
  EXPECT_THAT(BuildAll({{"c", text, true}}).errors(), IsEmpty());
  EXPECT_THAT(BuildAll({{"c", "", true}}).errors(), IsEmpty());
}

TEST(DocumentTest, JsonIsReadLikeYaml) {
  const Built built = BuildText(
      R"({"rules": [{"id": "r", "key_pattern": "{user_id}", "algorithm": "gcra", "rate": 5,
           "window": "1s", "overrides": {"42": {"rate": 7}}}]})");
  EXPECT_THAT(built.errors(), IsEmpty());
  EXPECT_EQ(MatchOn(*built.set, {{"user_id", "42"}}).only().quota.rate, 7);
}

TEST(DocumentTest, SyntaxErrorsHaveTheirPlace) {
  EXPECT_THAT(BuildText("rules:\n  - id: [a\n").errors(),
              ElementsAre(StartsWith("r.yaml:3:1: the text ends before the closing ]")));
  EXPECT_THAT(BuildText("rules: []\n---\nrules: []\n").errors(),
              ElementsAre(HasSubstr("second YAML document")));
  EXPECT_THAT(BuildText("rules: []\nrules: []\n").errors(),
              ElementsAre(StartsWith("r.yaml:2:1: key rules is given twice")));
  EXPECT_THAT(BuildText("? [a]\n: b\nrules: []\n").errors(),
              ElementsAre(HasSubstr("a key must be a plain word")));
}

TEST(DocumentTest, WhatAScannerWouldTakeForTheEndIsRefused) {
  EXPECT_THAT(BuildText(std::string("rules: []\n\x04oops: 1\n")).errors(),
              ElementsAre(StartsWith("r.yaml:2:1: a control character (byte 4)")));
  EXPECT_THAT(BuildText(std::string("rules: []\0", 10)).errors(),
              ElementsAre(StartsWith("r.yaml:1:10: a control character (byte 0)")));
}

TEST(DocumentTest, AnchorsAndAliasesWork) {
  const Built built = BuildText(R"(rules:
  - id: a
    key_pattern: &user "user:{user_id}"
    algorithm: gcra
    rate: 5
    window: 1s
    plans: &plans [{match: {plan: pro}, rate: 9}]
  - id: b
    key_pattern: *user
    algorithm: gcra
    rate: 6
    window: 1s
    plans: *plans
)");
  EXPECT_THAT(built.errors(), IsEmpty());
  const Matched matched = MatchOn(*built.set, {{"user_id", "u"}, {"plan", "pro"}});
  ASSERT_THAT(matched.ids(), ElementsAre("a", "b"));
  EXPECT_EQ(matched.matches.applied()[1].quota.rate, 9);
}

TEST(DocumentTest, AliasBombsAreCountedNotExpanded) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 10; ++j) {
      text += ", " + before;
    }
    text += "]\n";
  }
  EXPECT_THAT(BuildText(text).errors(), ElementsAre(HasSubstr("aliases counted in full")));
}

TEST(DocumentTest, AnAliasInsideItsOwnValueIsRefused) {
  EXPECT_THAT(BuildText("rules: &a [*a]\n").errors(), ElementsAre(HasSubstr("inside the value")));
}

TEST(DocumentTest, DepthAndSizeAreBounded) {
  EXPECT_THAT(BuildText("rules: " + std::string(40, '[') + std::string(40, ']')).errors(),
              ElementsAre(HasSubstr("nested deeper than 32")));
  EXPECT_THAT(BuildText("rules: " + std::string(5000, '[')).errors(), SizeIs(::testing::Ge(1)));
  EXPECT_THAT(BuildText(std::string(yaml::kMaxTextBytes + 1, ' ')).errors(),
              ElementsAre(HasSubstr("larger than 64 MiB")));
}

TEST(DocumentTest, AHostileNumberOfProblemsIsCutOff) {
  std::string text = "rules:\n";
  for (int i = 0; i < 5000; ++i) {
    text += "- 1\n";
  }
  EXPECT_THAT(BuildText(text).errors(), SizeIs(1001));
}

}  // namespace
}  // namespace sluice::rules
