#include <algorithm>
#include <deque>
#include <iterator>
#include <string>
#include <utility>

#include "rules/rule.h"
#include "rules/rule_index.h"
#include "rules/rule_reader.h"
#include "rules/rule_set.h"
#include "rules/spelling.h"
#include "yaml/tree.h"

namespace sluice::rules {

namespace {

// Over the numbers of the rule, its plans and its overrides.
Duration LongestRefill(const core::Quota& quota, const CompiledRule& compiled) {
  if (!core::IsBucket(quota.algorithm)) {
    return {};
  }
  Duration longest{};
  const auto look = [&](const core::Quota& numbers) {
    if (!numbers.unlimited && numbers.rate > 0) {
      longest = std::max(longest, core::RefillTime(numbers));
    }
  };
  const auto look_with = [&](const Numbers& numbers) {
    core::Quota changed = quota;
    numbers.ApplyTo(changed);
    look(changed);
  };
  look(quota);
  for (const Plan& plan : compiled.plans) {
    look_with(plan.numbers);
  }
  for (const auto& [key, numbers] : compiled.overrides) {
    look_with(numbers);
  }
  return longest;
}

}  // namespace

// One run of RuleSet::Build.
class RuleSetBuilder {
 public:
  using Index = RuleSet::Index;

  RuleSetBuilder(const RuleSet* running, Findings& findings)
      : running_(running), findings_(findings), index_(std::make_unique<Index>()) {}

  std::shared_ptr<const RuleSet> Build(std::span<const SourceText> sources) {
    Read(sources);
    Number();
    if (!findings_.errors.empty()) {
      return nullptr;
    }
    for (const CompiledRule& rule : index_->compiled) {
      ReviewPlans(rule, index_->attributes, findings_);
    }
    WarnOfMutualReplacement();
    NoteReaders();
    index_->lookup = RuleIndex(index_->rules, index_->compiled, index_->attributes.size());
    if (running_ != nullptr) {
      WarnOfFreshStarts();
    }
    return std::shared_ptr<const RuleSet>(new RuleSet(std::move(index_)));
  }

 private:
  void Fail(const Place& place, std::string message) {
    Reporter(place.file, findings_).Fail(place.line, place.column, std::move(message));
  }
  void Warn(const Place& place, std::string message) {
    if (findings_.warnings.size() < Reporter::kMaxPerList) {
      findings_.warnings.push_back({std::move(message), place});
    }
  }

  // Two passes over all sources: a type that one source declares applies to the rules of all, so
  // every `attributes` is read before the first rule. Overridden rules are dropped last, so that
  // their problems are reported too.
  void Read(std::span<const SourceText> sources) {
    std::deque<yaml::Tree> trees;
    std::vector<DocumentReader> readers;
    for (const SourceText& source : sources) {
      const std::size_t before = findings_.errors.size();
      trees.emplace_back(source.text, source.name, findings_.errors);
      // A tree that was abandoned because of a limit or bad syntax has no root. Further problems of
      // it would only be noise.
      if (trees.back().root().is_null() && findings_.errors.size() > before) {
        continue;
      }
      readers.emplace_back(trees.back().root(), source.is_configuration,
                           Reporter(source.name, findings_));
      readers.back().ReadAttributes(index_->attributes);
    }
    for (DocumentReader& reader : readers) {
      reader.ReadRules(index_->attributes, index_->calendars, drafts_);
    }
    DropSuperseded();
  }

  // If several origins have a rule with the same id, keeps the one of the highest precedence.
  void DropSuperseded() {
    TextMap<Origin> highest;
    for (const RuleDraft& draft : drafts_) {
      const Origin own = OriginOf(draft.rule.source);
      Origin& origin = highest.try_emplace(draft.rule.id, own).first->second;
      origin = std::max(origin, own);
    }
    std::erase_if(drafts_, [&](const RuleDraft& draft) {
      return OriginOf(draft.rule.source) < highest.find(draft.rule.id)->second;
    });
    for (RuleDraft& draft : drafts_) {
      if (const Origin origin = OriginOf(draft.rule.source); origin != Origin::kFile) {
        draft.rule.source = NameOf(origin);
      }
    }
  }

  // Numbers the rules and resolves their references to each other.
  void Number() {
    std::vector<std::string_view> ids;
    for (std::uint32_t number = 0; number < drafts_.size(); ++number) {
      Rule& rule = drafts_[number].rule;
      rule.number = number;
      if (rule.id.empty()) {
        continue;
      }
      const auto [first, fresh] = index_->by_id.try_emplace(rule.id, number);
      if (!fresh) {
        const Place& place = drafts_[first->second].rule.place;
        Fail(rule.place, "id " + rule.id + " is taken: the rule in " + place.file + ":" +
                             std::to_string(place.line) + " has it");
      } else {
        ids.push_back(rule.id);
      }
    }
    TextMap<std::uint32_t> heirs;
    for (std::uint32_t number = 0; number < drafts_.size(); ++number) {
      RuleDraft& draft = drafts_[number];
      for (const auto& [id, place] : draft.replaces) {
        const auto found = index_->by_id.find(id);
        if (id == draft.rule.id) {
          Fail(place, "replaces: " + id + " is this rule itself");
        } else if (found == index_->by_id.end()) {
          std::vector<std::string_view> others = ids;
          std::erase(others, draft.rule.id);
          Fail(place, "replaces: there is no rule " + id + KnownOnes(id, others));
        } else {
          draft.compiled.replaces.push_back(found->second);
        }
      }
      for (std::size_t i = 0; i < draft.rule.formerly.size(); ++i) {
        const std::string& old = draft.rule.formerly[i];
        const Place& place = draft.formerly_places[i];
        if (index_->by_id.contains(old)) {
          Fail(place, "formerly: " + old +
                          (old == draft.rule.id ? " is this rule itself: leave it out"
                                                : " is an active rule, which keeps its own state"));
        } else if (const auto [heir, first] = heirs.try_emplace(old, number); !first) {
          Fail(place, "formerly: " + old +
                          (heir->second == number ? " is named twice"
                                                  : " is already a former id of another rule"));
        }
      }
    }
    for (RuleDraft& draft : drafts_) {
      draft.rule.longest_refill = LongestRefill(draft.rule.quota, draft.compiled);
      index_->rules.push_back(std::move(draft.rule));
      index_->compiled.push_back(std::move(draft.compiled));
    }
    drafts_.clear();
  }

  void WarnOfMutualReplacement() {
    for (const Rule& rule : index_->rules) {
      for (const std::uint32_t other : index_->compiled[rule.number].replaces) {
        const auto& back = index_->compiled[other].replaces;
        if (other > rule.number && std::find(back.begin(), back.end(), rule.number) != back.end()) {
          Warn(rule.place, "rules " + rule.id + " and " + index_->rules[other].id +
                               " replace each other: where both apply, neither counts");
        }
      }
    }
  }

  // For each address attribute, the rules that read it in their match or key.
  void NoteReaders() {
    index_->readers.resize(index_->attributes.size());
    const auto note = [&](AttributeId id, std::uint32_t number) {
      auto& readers = index_->readers[id];
      if (index_->attributes.kind(id).is_ip() && (readers.empty() || readers.back() != number)) {
        readers.push_back(number);
      }
    };
    for (std::uint32_t number = 0; number < index_->compiled.size(); ++number) {
      const CompiledRule& rule = index_->compiled[number];
      for (const AttributeId id : rule.key) {
        note(id, number);
      }
      for (const Condition& condition : rule.match) {
        note(condition.attribute, number);
      }
      for (const Plan& plan : rule.plans) {
        for (const Condition& condition : plan.match) {
          note(condition.attribute, number);
        }
      }
    }
    for (AttributeId id = 0; id < index_->attributes.size(); ++id) {
      if (!index_->readers[id].empty()) {
        index_->addresses.push_back(id);
      }
    }
  }

  // A reload that resets counters is legal but rarely intended, so it is a warning. It compares
  // with the active rule of the same id or, if there is none, with the first former id that was
  // active.
  void WarnOfFreshStarts() {
    for (const Rule& rule : index_->rules) {
      const Rule* before = running_->Find(rule.id);
      for (const std::string& old : rule.formerly) {
        before = before == nullptr ? running_->Find(old) : before;
      }
      if (before == nullptr) {
        continue;
      }
      const bool kinds_differ =
          std::any_of(rule.key.begin(), rule.key.end(), [&](const KeyAttribute& attribute) {
            return index_->attributes.KindOf(attribute.name) !=
                   running_->index_->attributes.KindOf(attribute.name);
          });
      if (const auto why = FreshStart(*before, rule, kinds_differ); why.has_value()) {
        Warn(rule.place, "all keys of rule " + rule.id + " start with their full limit: " + *why);
      }
    }
  }

  const RuleSet* running_;
  Findings& findings_;
  std::unique_ptr<Index> index_;
  std::vector<RuleDraft> drafts_;
};

std::shared_ptr<const RuleSet> RuleSet::Build(std::span<const SourceText> sources,
                                              const RuleSet* running, Findings& findings) {
  return RuleSetBuilder(running, findings).Build(sources);
}

}  // namespace sluice::rules
