#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/result.h"

#include "core/key.h"
#include "core/quota.h"
#include "rules/attribute_table.h"
#include "rules/findings.h"
#include "rules/rule.h"

namespace sluice::rules {

// The unparsed text of one source: a file, or a text of the same form from the API or etcd.
struct SourceText {
  std::string name;  // Becomes Rule::source and the file part of every Place.
  std::string text;  // YAML (JSON is YAML).
  // The daemon's configuration. It has rules and other sections (listeners, store, table,
  // rule_sources), which are read elsewhere. `rules` may be absent, and an empty text is not an
  // error.
  bool is_configuration = false;

  bool operator==(const SourceText&) const = default;
};

// What to do if the attribute that a rule's `cost` names is absent: fail the request, or use the
// call's own cost (for status requests and refunds).
enum class AbsentCost : std::uint8_t { kIsAnError, kIsTheCalls };

// Options of Match().
struct MatchOptions {
  AbsentCost absent_cost = AbsentCost::kIsAnError;
  // A rule of the set: only this rule is listed, and no other rule can fail the request by its cost
  // or key. Rules that replace it still do.
  const Rule* only = nullptr;
  Secrets secrets = Secrets::kAreValues;
  // With `only`: selects its key whether or not its match holds, and in any mode. For operators,
  // who know the rule and the key but not the request.
  bool by_key = false;
};

// One rule that applies to a request, with its plan or override, cost and key. Views point into the
// request and into the Matches that contains it.
struct AppliedRule {
  const Rule* rule = nullptr;
  core::Quota quota;
  Cost cost;
  bool shadow = false;
  // No key, and `parts` is empty: a rule with action: allow or deny, or one with on_missing: deny
  // and an absent key attribute.
  bool key_missing = false;
  std::span<const core::KeyPart> parts;
};

// A rule that matches a request but does not judge it, because an attribute of its key is missing.
struct SkippedRule {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const Rule* rule = nullptr;
  // The index of the first missing one in AttributeNames(); kNone if the request was invalid for a
  // shadow rule for another reason.
  std::uint32_t missing = kNone;
};

// The result of Match(), and its working memory. Reused from request to request, so that matching
// allocates nothing once warm. One thread at a time.
class Matches {
 public:
  Matches();
  ~Matches();
  Matches(Matches&&) noexcept;
  Matches& operator=(Matches&&) noexcept;

  [[nodiscard]] std::span<const AppliedRule> applied() const;  // In declaration order.
  // Rules that match but were skipped because a key attribute is absent. Shadow rules also if the
  // request is invalid for them, because a shadow rule never fails a request. In any order.
  [[nodiscard]] std::span<const SkippedRule> skipped() const;

 private:
  friend class RuleSet;
  struct Room;
  std::unique_ptr<Room> room_;
};

// A set of rules: immutable once built, indexed so that matching need not check all of them, shared
// by all threads.
class RuleSet {
 public:
  ~RuleSet();

  // Reads all sources as one set: ids are unique over all of them, `replaces` may name a rule of
  // another source, declaration order is the order of `sources` and within each the order of its
  // text. Returns nullptr if `findings` got an error. `running`, if given, is the set that this one
  // will replace: a change that resets keys causes one warning.
  [[nodiscard]] static std::shared_ptr<const RuleSet> Build(std::span<const SourceText> sources,
                                                            const RuleSet* running,
                                                            Findings& findings);

  // Finds the rules that apply to `request`, with `cost` as the call's own cost (0..kMaxUnits). If
  // an attribute is given twice, the last counts. If a rule with action: allow applies, rules that
  // count do not apply, and rules with action: deny still do. `modes` has the modes. A rule that is
  // off is not listed, and a rule that it or a shadow rule replaces stays active. Errors (texts for
  // the sender, only because of enforced rules): an attribute named by a rule's `cost` is absent
  // (see AbsentCost) or not a number; a key value is longer than kMaxValueBytes; an ip attribute is
  // not an address. Allocates nothing once `matches` is warm, except on errors and for attributes
  // with more than four regexes (rules/regex_index.h); bench/match_bench.cc and
  // tests/unit/rules/match_allocation_test.cc check that. Safe from any thread.
  Result<void> Match(Attributes request, Cost cost, const ModeOverrides& modes, Matches& matches,
                     const MatchOptions& options = {}) const;

  // For people: why each rule applies to `request` or not, in declaration order. A secret may be
  // given as its hash.
  struct Explanation {
    const Rule* rule = nullptr;
    bool applies = false;
    bool shadow = false;
    std::string why;  // "match endpoint: /login, and it is /pay", "replaced by login" ...
    std::string key;  // "user_id=u_42", if it applies.
    core::Quota quota;
    Cost cost;
    // Whose numbers `quota` has, and where these are written.
    enum class NumbersOf : std::uint8_t { kRule, kPlan, kOverride };
    NumbersOf numbers_of = NumbersOf::kRule;
    std::string plan;  // Of kPlan: its match, "plan: pro".
    Place numbers_place;
  };
  [[nodiscard]] std::vector<Explanation> Explain(Attributes request, Cost cost,
                                                 const ModeOverrides& modes) const;

  [[nodiscard]] std::span<const Rule> rules() const;  // In declaration order; number is the index.
  [[nodiscard]] const Rule* Find(std::string_view id) const;
  // The texts and prefixes with which the match and the plans of `rule`, a rule of this set,
  // compare `attribute`. Without expressions and blocks of addresses.
  struct Compared {
    std::string text;
    bool is_prefix = false;
  };
  [[nodiscard]] std::vector<Compared> TextsFor(const Rule& rule, std::string_view attribute) const;
  // The attributes without which `rule`, a rule of this set, does not judge a request: those of its
  // match, its key and its cost. Plans and reserves need none.
  struct Needs {
    std::vector<std::string> match;
    std::vector<std::string> key;
    std::vector<std::string> cost;  // One at most.
  };
  [[nodiscard]] Needs NeedsOf(const Rule& rule) const;
  // What a review needs to know of `rule`, a rule of this set, besides its public part.
  struct Details {
    std::vector<core::Quota> quotas;      // By which it may judge, each once; its own comes first.
    std::optional<Units> fixed_cost;      // Of every request; nullopt: requests differ.
    std::vector<std::uint32_t> replaces;  // Numbers of rules.
    std::vector<std::string> enumerated;  // Attributes for which its match lists exact texts only.
  };
  [[nodiscard]] Details DetailsOf(const Rule& rule) const;
  // Whether every request that `narrow` matches is certainly matched by `wide`, both rules of this
  // set. False may be wrong (two regexes are not compared); true never is.
  [[nodiscard]] bool Covers(const Rule& wide, const Rule& narrow) const;
  // The value of `attribute` as others than its sender may see it: the value, or, if it is declared
  // as a secret, its hash, which is written into `room`. Allocates nothing for a text.
  [[nodiscard]] std::string_view ShownValue(const Attribute& attribute,
                                            ValueHash::Text& room) const;
  // Every attribute that any of the rules reads.
  [[nodiscard]] std::vector<std::string> AttributeNames() const;

 private:
  friend class RuleSetBuilder;
  struct Index;
  explicit RuleSet(std::unique_ptr<Index> index);
  std::unique_ptr<const Index> index_;
};

}  // namespace sluice::rules
