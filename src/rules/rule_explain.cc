#include <algorithm>
#include <string>
#include <utility>

#include "rules/rule_index.h"

namespace sluice::rules {

namespace {

// Describes the first condition that does not hold.
std::string WhyNot(const CompiledRule& rule, const AttributeTable& attributes,
                   const BoundRequest& request) {
  for (const Condition& condition : rule.match) {
    if (condition.Holds(request)) {
      continue;
    }
    const std::string& name = attributes.name(condition.attribute);
    const BoundAttribute* value = request.Get(condition.attribute);
    return "match " + name + ": " + condition.Text() +
           (value == nullptr ? ", and the request has no " + name
            : attributes.kind(condition.attribute).hash
                ? ", and the request has another value"
                : ", and it is " + std::string(value->text()));
  }
  return "";
}

std::string MissingAttribute(const CompiledRule& rule, const AttributeTable& attributes,
                             const BoundRequest& request) {
  for (const AttributeId id : rule.key) {
    if (request.Get(id) == nullptr) {
      return attributes.name(id);
    }
  }
  return "";
}

std::string KeyText(const CompiledRule& rule, const AttributeTable& attributes,
                    const BoundRequest& request) {
  std::string text;
  for (const AttributeId id : rule.key) {
    text += (text.empty() ? "" : ", ") + attributes.name(id) + "=" +
            std::string(request.Get(id)->key_text());
  }
  return text.empty() ? "one key that all requests share" : text;
}

}  // namespace

std::vector<RuleSet::Explanation> RuleSet::Explain(Attributes request, Cost cost,
                                                   const ModeOverrides& modes) const {
  const Index& index = *index_;
  Matches matches;
  const auto matched = Match(request, cost, modes, matches, {.secrets = Secrets::kMayBeHashes});
  BoundRequest bound;
  bound.Start(index.attributes, Secrets::kMayBeHashes);
  for (const Attribute& attribute : request) {
    bound.Bind(index.attributes, attribute.name, attribute.value);
  }

  // Describes which rule replaces which, as Match() decides it.
  std::vector<std::string> replaced_by(index.rules.size());
  for (const Rule& rule : index.rules) {
    const CompiledRule& compiled = index.compiled[rule.number];
    const bool applies = modes.Effective(rule) == Mode::kEnforce &&
                         AllHold(compiled.match, bound) &&
                         (rule.on_missing == OnMissing::kDeny ||
                          MissingAttribute(compiled, index.attributes, bound).empty());
    for (const std::uint32_t other : applies ? compiled.replaces : std::vector<std::uint32_t>{}) {
      replaced_by[other] += (replaced_by[other].empty() ? "" : ", ") + rule.id;
    }
  }

  // The rule that allows the request whatever the others decide.
  std::string exempted_by;
  for (const Rule& rule : index.rules) {
    if (rule.action == Action::kAllow && modes.Effective(rule) == Mode::kEnforce &&
        AllHold(index.compiled[rule.number].match, bound) && replaced_by[rule.number].empty()) {
      exempted_by += (exempted_by.empty() ? "" : ", ") + rule.id;
    }
  }

  std::vector<Explanation> explanations;
  std::string scratch;
  for (const Rule& rule : index.rules) {
    const CompiledRule& compiled = index.compiled[rule.number];
    Explanation e;
    e.rule = &rule;
    e.quota = rule.quota;
    e.cost = cost;
    e.numbers_place = rule.place;
    const Mode mode = modes.Effective(rule);
    e.shadow = mode == Mode::kShadow;
    const std::string missing = MissingAttribute(compiled, index.attributes, bound);
    if (mode == Mode::kOff) {
      e.why = modes.all ? "the kill switch is on" : "its mode is off";
    } else if (std::string why = WhyNot(compiled, index.attributes, bound); !why.empty()) {
      e.why = std::move(why);
    } else if (!missing.empty() && rule.on_missing == OnMissing::kSkip) {
      e.why = "the request has no " + missing + ", which is part of the key (on_missing: skip)";
    } else if (!replaced_by[rule.number].empty()) {
      e.why = "replaced by " + replaced_by[rule.number];
    } else if (rule.action != Action::kLimit) {
      e.applies = true;
      e.why = "match " + TextOf(compiled.match, index.attributes) +
              (rule.action == Action::kAllow ? "; it lets the request pass, and no limit counts"
                                             : "; it refuses the request");
    } else if (!exempted_by.empty()) {
      e.why = exempted_by + " lets the request pass, and no limit counts";
    } else if (!missing.empty()) {
      e.applies = true;
      e.why = "denied: the request has no " + missing +
              ", which is part of the key "
              "(on_missing: deny)";
    } else if (!matched.has_value() && !e.shadow) {
      e.why = "the request is wrong: " + matched.error().message;
    } else if (const auto spent = CostUnder(compiled.cost, index.attributes, bound, cost);
               !spent.has_value()) {
      e.why = "the request is wrong: " + spent.error().message;
    } else {
      const ChosenNumbers chosen = ChooseNumbers(compiled, bound, scratch);
      e.applies = true;
      e.cost = *spent;
      e.quota = QuotaUnder(rule, compiled, chosen, bound);
      e.key = KeyText(compiled, index.attributes, bound);
      if (chosen.plan != nullptr) {
        e.numbers_of = Explanation::NumbersOf::kPlan;
        e.plan = TextOf(chosen.plan->match, index.attributes);
        e.numbers_place.line = chosen.plan->numbers.line;
        e.why = "plan with match " + e.plan;
      } else if (chosen.numbers != nullptr) {
        e.numbers_of = Explanation::NumbersOf::kOverride;
        e.numbers_place.line = chosen.numbers->line;
        e.why = "override of this key";
      } else {
        e.why = "the rule's own numbers";
      }
      if (!compiled.match.empty()) {
        e.why = "match " + TextOf(compiled.match, index.attributes) + "; " + e.why;
      }
      if (e.shadow) {
        e.why += "; shadow: decided and counted, not enforced";
      }
    }
    explanations.push_back(std::move(e));
  }
  return explanations;
}

}  // namespace sluice::rules
