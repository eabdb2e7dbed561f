#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/rules/rules_fixture.h"

namespace sluice::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> WarningsOf(const std::string& before, const std::string& next) {
  const auto text = [](const std::string& fields) {
    return (fields.starts_with("attributes") ? fields.substr(0, fields.find('|')) + "\n" : "") +
           "rules: [{" + fields.substr(fields.find('|') + 1) + "}]";
  };
  const Built running = BuildText(text(before));
  EXPECT_THAT(running.errors(), IsEmpty());
  const Built built = BuildText(text(next), running.set.get());
  EXPECT_THAT(built.errors(), IsEmpty());
  return built.warnings();
}

const std::string kSliding =
    "|id: r, key_pattern: '{a}', algorithm: sliding_window, limit: 5, window: 1h";

TEST(ReloadWarningsTest, WhatKeepsStateIsNotWarnedOf) {
  EXPECT_THAT(WarningsOf(kSliding, kSliding + ", strict: true, segments: 48, mode: shadow"),
              IsEmpty());
  EXPECT_THAT(WarningsOf(kSliding,
                         "|id: r, key_pattern: 'k-{a}-x', algorithm: sliding_window, limit: 50, "
                         "window: 60m, match: {a: b}"),
              IsEmpty());
  EXPECT_THAT(WarningsOf(kSliding,
                         "|id: q, formerly: r, key_pattern: '{a}', algorithm: sliding_window, "
                         "limit: 5, window: 1h"),
              IsEmpty());
  EXPECT_THAT(WarningsOf(kSliding,
                         "|id: r, key_pattern: '{a}', algorithm: sliding_window, limit: "
                         "unlimited"),
              IsEmpty());
}

TEST(ReloadWarningsTest, WhatStartsKeysFreshIsWarnedOf) {
  const auto warning = [](const std::string& next) { return WarningsOf(kSliding, next); };
  EXPECT_THAT(
      warning("|id: r, key_pattern: '{a}', algorithm: fixed_window, limit: 5, window: 1h"),
      ElementsAre(HasSubstr("all keys of rule r start with their full limit: its algorithm was "
                            "sliding_window and is now fixed_window")));
  EXPECT_THAT(
      warning("|id: r, key_pattern: '{a}', algorithm: sliding_window, limit: 5, window: 2h"),
      ElementsAre(HasSubstr("its window was 1h and is now 2h")));
  EXPECT_THAT(warning(kSliding + ", segments: 16"),
              ElementsAre(HasSubstr("its segments was 48 and is now 16")));
  EXPECT_THAT(warning(kSliding + ", strict: true"),
              ElementsAre(HasSubstr("its segments was 48 and is now 8")));
  EXPECT_THAT(
      warning("|id: r, key_pattern: '{a}{b}', algorithm: sliding_window, limit: 5, window: 1h"),
      ElementsAre(HasSubstr("its key was {a} and is now {a}{b}")));
  EXPECT_THAT(warning("attributes: {a: {type: ip}}" + kSliding), ElementsAre(HasSubstr("its key")));
  EXPECT_THAT(WarningsOf("attributes: {a: {type: ip}}" + kSliding,
                         "attributes: {a: {type: ip, v6_prefix: 48}}" + kSliding),
              ElementsAre(HasSubstr("declared differently")));
  const std::string calendar =
      "|id: r, key_pattern: '{a}', algorithm: fixed_window, limit: 5, window: month, time_zone: ";
  EXPECT_THAT(WarningsOf(calendar + "UTC", calendar + "Europe/Berlin"),
              ElementsAre(HasSubstr("its window was")));
}

TEST(ReloadWarningsTest, RulesThatReplaceEachOtherAreWarnedOf) {
  EXPECT_THAT(
      BuildText("rules:\n"
                "  - {id: a, key_pattern: x, algorithm: gcra, limit: unlimited, replaces: [b]}\n"
                "  - {id: b, key_pattern: x, algorithm: gcra, limit: unlimited, replaces: [a]}\n")
          .warnings(),
      ElementsAre(HasSubstr("replace each other")));
}

}  // namespace
}  // namespace sluice::rules
