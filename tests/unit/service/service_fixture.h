#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rules/rule_set.h"
#include "service/limiter_service.h"
#include "support/scripted_store.h"

namespace sluice::service {

inline std::shared_ptr<const rules::RuleSet> RulesOf(std::string text) {
  rules::Findings findings;
  const rules::SourceText source{.name = "rules.yaml", .text = std::move(text)};
  auto rules = rules::RuleSet::Build({&source, 1}, nullptr, findings);
  for (const Error& error : findings.errors) {
    ADD_FAILURE() << error.Text();
  }
  return rules;
}

// One gcra rule on user_id, with whatever `more` adds: ", mode: shadow".
inline std::string RuleText(const std::string& id, const std::string& more = "") {
  return "  - {id: " + id +
         ", key_pattern: \"user:{user_id}\", algorithm: gcra, rate: 10, window: 1m" + more + "}\n";
}

// Another, that denies where `ip` is absent.
inline std::string StrictText(const std::string& id, const std::string& more = "") {
  return "  - {id: " + id +
         ", key_pattern: \"ip:{ip}\", on_missing: deny, algorithm: fixed_window, limit: 5, "
         "window: 1m" +
         more + "}\n";
}

// A check by rules that takes down what came, and how often.
class TestCheck : public Completion {
 public:
  explicit TestCheck(Attribute with = {.name = "user_id", .value = "a"}) : with_(with) {
    check.attributes = {&with_, 1};
  }
  virtual ~TestCheck() = default;

  void OnCompleted(Operation& /*operation*/) noexcept override {
    ++answered;
    for (const RuleDecision& made : verdict.decisions) {
      last_rules.push_back(made.rule->id);
    }
  }

  Operation operation{*this};
  RuleCheck& check = operation.Ask<RuleCheck>();
  Verdict& verdict = check.verdict;
  int answered = 0;
  std::vector<std::string> last_rules;  // Copied: the verdict's own names may go.

 private:
  Attribute with_;
};

// Another operation, whose verb the test asks for.
class TestOperation final : public Completion {
 public:
  void OnCompleted(Operation& /*operation*/) noexcept override { ++completed; }

  Operation operation{*this};
  int completed = 0;
};

class ServiceTest : public ::testing::Test {
 protected:
  void Load(const std::string& rule_texts) { service.SetRules(RulesOf("rules:\n" + rule_texts)); }

  // What the store decides for rule `id` from now on.
  void Answer(const std::string& id, Decision decision) {
    store.script = [before = store.script, id, decision](const store::Check& check) {
      return check.key.rule == id
                 ? store::CheckAnswer{.decision = decision, .charged = decision.allowed}
                 : before(check);
    };
  }

  support::ScriptedStore store;
  ServiceMetrics metrics;
  LimiterService service{store, metrics};
};

}  // namespace sluice::service
