#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
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
#include "rules/mode_overrides.h"
#include "rules/rule.h"

namespace sluice::rules {

// One source's text, still unread: a file, or what an API or etcd holds of the same shape.
struct SourceText {
  std::string name;  // Becomes Rule::source and the file part of every Place.
  std::string text;  // YAML (JSON is YAML).
  // The daemon's configuration, which holds rules beside sections of its own (listeners, store,
  // table, rule_sources): those are left to their reader, `rules` may be absent, and an empty
  // text is no error.
  bool is_configuration = false;

  bool operator==(const SourceText&) const = default;
};

// What it means that the attribute which a rule's `cost` names is absent: a request that
// cannot be judged, or, for who only asks what is left or gives something back, that the
// call's own cost stands in.
enum class AbsentCost : std::uint8_t { kIsAnError, kIsTheCalls };

// How Match() is asked, beyond the request itself.
struct MatchOptions {
  AbsentCost absent_cost = AbsentCost::kIsAnError;
  // A rule of the set: no other is listed, and none fails the request by its cost or key; what
  // replaces it still does.
  const Rule* only = nullptr;
  Secrets secrets = Secrets::kAreValues;
  // With `only`: its key is meant, whether or not its match holds, and in whatever mode it is. For
  // operators, who know the rule and the key, and not the request.
  bool by_key = false;
};

// One rule that applies to one request, resolved: plan or override chosen, cost known, key
// made. Views point into the request and into the Matches that holds it.
struct AppliedRule {
  const Rule* rule = nullptr;
  core::Quota quota;
  Cost cost;
  bool shadow = false;
  // There is no key, and `parts` is empty: a rule that only allows or denies, or one with
  // on_missing: deny whose key attribute is absent.
  bool key_missing = false;
  std::span<const core::KeyPart> parts;
};

// A rule whose `match` holds and that does not judge a request: an attribute of its key is missing.
struct SkippedRule {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const Rule* rule = nullptr;
  // The first one that is missing, by its place in AttributeNames(); kNone where the request was
  // wrong for a shadow rule in another way.
  std::uint32_t missing = kNone;
};

// The answer of Match(), and the room it works in. Reused from request to request, so that
// matching allocates nothing once warm. One thread at a time.
class Matches {
 public:
  Matches();
  ~Matches();
  Matches(Matches&&) noexcept;
  Matches& operator=(Matches&&) noexcept;

  [[nodiscard]] std::span<const AppliedRule> applied() const;  // In declaration order.
  // Rules whose `match` holds but that were skipped because a key attribute is absent; shadow
  // rules also where the request is wrong for them (a shadow rule fails no request). Any order.
  [[nodiscard]] std::span<const SkippedRule> skipped() const;

 private:
  friend class RuleSet;
  struct Room;
  std::unique_ptr<Room> room_;
};

// The rules in force: immutable once built, indexed so that matching does not go through
// all of them, shared by all threads.
class RuleSet {
 public:
  ~RuleSet();

  // Reads all sources as one set: ids are unique over all of them, `replaces` may name a
  // rule of another source, declaration order is the order of `sources` and within each the
  // order of its text. Returns nullptr if `findings` got an error. `running`, if given, is the
  // set that this one is to follow: changes that make keys start fresh are warned of once.
  [[nodiscard]] static std::shared_ptr<const RuleSet> Build(std::span<const SourceText> sources,
                                                            const RuleSet* running,
                                                            Findings& findings);

  // Which rules apply to `request`, with `cost` as the call's own cost (0..kMaxUnits). Of an
  // attribute given twice the last counts. Where a rule that allows applies,
  // those that count do not, and those that deny do. Modes are those of `modes`; a rule that is off
  // is not listed, and what it or a shadow rule replaces stays in force. Errors (of the request,
  // for its sender to read, only where an enforced rule is concerned): an attribute that a rule's
  // `cost` names is absent (see AbsentCost) or no number; a key value above kMaxValueBytes; an ip
  // attribute that is no address. Allocates nothing once `matches` is warm, but on errors and for
  // attributes that more than four regexes are written for (rules/regex_index.h);
  // bench/match_bench.cc and tests/unit/rules/match_allocation_test.cc hold that. Safe from any
  // thread.
  Result<void> Match(Attributes request, Cost cost, const ModeOverrides& modes, Matches& matches,
                     const MatchOptions& options = {}) const;

  // For people: why each rule does or does not apply to `request`, in declaration order. A secret
  // may be given by its hash.
  struct Explanation {
    const Rule* rule = nullptr;
    bool applies = false;
    bool shadow = false;
    std::string why;  // "match endpoint: /login, and it is /pay", "replaced by login" ...
    std::string key;  // "user_id=u_42", where it applies.
    core::Quota quota;
    Cost cost;
  };
  [[nodiscard]] std::vector<Explanation> Explain(Attributes request, Cost cost,
                                                 const ModeOverrides& modes) const;

  [[nodiscard]] std::span<const Rule> rules() const;  // In declaration order; number is the index.
  [[nodiscard]] const Rule* Find(std::string_view id) const;
  // The texts and prefixes that the match and the plans of `rule`, one of this set, compare
  // `attribute` with. Expressions and blocks of addresses are none.
  struct Compared {
    std::string text;
    bool is_prefix = false;
  };
  [[nodiscard]] std::vector<Compared> TextsFor(const Rule& rule, std::string_view attribute) const;
  // The attributes without which `rule`, one of this set, does not judge a request: those of its
  // match, its key and its cost, by how the rule uses them. Plans and reserves do without.
  struct Needs {
    std::vector<std::string> match;
    std::vector<std::string> key;
    std::vector<std::string> cost;  // One at most.
  };
  [[nodiscard]] Needs NeedsOf(const Rule& rule) const;
  // Every attribute that any of the rules reads, for whoever has to fetch them.
  [[nodiscard]] std::vector<std::string> AttributeNames() const;

 private:
  friend class RuleSetBuilder;
  struct Index;
  explicit RuleSet(std::unique_ptr<Index> index);
  std::unique_ptr<const Index> index_;
};

}  // namespace sluice::rules
