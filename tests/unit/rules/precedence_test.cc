#include <array>
#include <string>

#include <gtest/gtest.h>

#include "rules/rule_set.h"

namespace sluice::rules {
namespace {

std::string RuleOf(std::string_view id, int rate, std::string_view more = "") {
  return "rules: [{id: " + std::string(id) +
         ", key_pattern: 'u:{u}', algorithm: gcra, rate: " + std::to_string(rate) + ", window: 1m" +
         std::string(more) + "}]";
}

TEST(PrecedenceTest, TheApiIsBeforeEtcdAndEtcdBeforeFiles) {
  const std::array sources{SourceText{.name = "api:a", .text = RuleOf("a", 3)},
                           SourceText{.name = "f.yaml", .text = RuleOf("a", 1)},
                           SourceText{.name = "etcd:a", .text = RuleOf("a", 2)},
                           SourceText{.name = "g.yaml", .text = RuleOf("b", 1)},
                           SourceText{.name = "etcd:b", .text = RuleOf("b", 2)}};
  Findings findings;
  const auto set = RuleSet::Build(sources, nullptr, findings);
  ASSERT_NE(set, nullptr);
  ASSERT_EQ(set->rules().size(), 2U);
  EXPECT_EQ(set->Find("a")->quota.rate, 3);
  EXPECT_EQ(set->Find("a")->source, "api");
  EXPECT_EQ(set->Find("b")->quota.rate, 2);
  EXPECT_EQ(set->Find("b")->source, "etcd");
}

TEST(PrecedenceTest, AnIdTwiceInFilesIsStillAnError) {
  const std::array sources{SourceText{.name = "f.yaml", .text = RuleOf("a", 1)},
                           SourceText{.name = "g.yaml", .text = RuleOf("a", 2)}};
  Findings findings;
  EXPECT_EQ(RuleSet::Build(sources, nullptr, findings), nullptr);
}

TEST(PrecedenceTest, OriginsNameEachOthersRules) {
  const std::array sources{SourceText{.name = "f.yaml", .text = RuleOf("a", 1)},
                           SourceText{.name = "api:b", .text = RuleOf("b", 1, ", replaces: [a]")}};
  Findings findings;
  EXPECT_NE(RuleSet::Build(sources, nullptr, findings), nullptr);
}

}  // namespace
}  // namespace sluice::rules
