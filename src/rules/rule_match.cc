#include <algorithm>
#include <string>
#include <utility>

#include "base/fault.h"
#include "core/key_codec.h"
#include "rules/rule_index.h"

// The path of every request. Once warm, nothing here allocates (see Match()), and nothing locks,
// logs or makes a virtual call. bench/match_bench.cc and the allocation test check that.
namespace sluice::rules {

namespace {

// The first attribute of the rule's key that the request lacks; SkippedRule::kNone if none.
AttributeId MissingOf(const CompiledRule& rule, const BoundRequest& request) {
  const auto missing =
      std::ranges::find_if(rule.key, [&](AttributeId id) { return request.Get(id) == nullptr; });
  return missing == rule.key.end() ? SkippedRule::kNone : *missing;
}

// The problem of a key value; nullopt if it has none.
std::optional<Error> FaultOfKey(const Rule& rule, const CompiledRule& compiled,
                                const AttributeTable& attributes, const BoundRequest& request) {
  for (const AttributeId id : compiled.key) {
    const BoundAttribute& value = *request.Get(id);
    if (attributes.kind(id).is_ip() && !value.is_hash()) {
      if (!value.address().has_value()) {
        return Error{"attribute " + attributes.name(id) + " is not an IP address, and rule " +
                         rule.id + " needs one for its key",
                     {}};
      }
    } else if (value.value().size() > core::kMaxValueBytes) {
      return Error{"attribute " + attributes.name(id) + " is " +
                       std::to_string(value.value().size()) + " bytes long; a key value has " +
                       std::to_string(core::kMaxValueBytes) + " at most",
                   {}};
    }
  }
  return std::nullopt;
}

}  // namespace

struct Matches::Room {
  BoundRequest request;
  Candidates candidates;
  struct Hit {
    std::uint32_t rule = 0;
    bool shadow = false;
    bool key_missing = false;
  };

  std::vector<Hit> hits;
  std::vector<std::uint64_t> replaced;  // By rule: the last request in which it was replaced.
  std::uint64_t generation = 0;
  std::string key_text;
  std::vector<core::KeyPart> parts;
  std::vector<AppliedRule> applied;
  std::vector<SkippedRule> skipped;
};

Matches::Matches() : room_(std::make_unique<Room>()) {}
Matches::~Matches() = default;
Matches::Matches(Matches&&) noexcept = default;
Matches& Matches::operator=(Matches&&) noexcept = default;

std::span<const AppliedRule> Matches::applied() const {
  return room_->applied;
}

std::span<const SkippedRule> Matches::skipped() const {
  return room_->skipped;
}

Result<Cost> CostUnder(const CostRule& rule, const AttributeTable& attributes,
                       const BoundRequest& request, Cost call, AbsentCost absent) {
  switch (rule.kind) {
    case CostRule::Kind::kRequest:
      return call;
    case CostRule::Kind::kFixed:
      return Cost{rule.units};
    case CostRule::Kind::kAttribute:
      break;
  }
  const BoundAttribute* bound = request.Get(rule.attribute);
  const std::string& name = attributes.name(rule.attribute);
  if (bound == nullptr && absent == AbsentCost::kIsTheCalls) {
    return call;
  }
  if (bound == nullptr) {
    return Fault("attribute " + name + " is missing: it is the cost of the request");
  }
  constexpr std::size_t kDigits = 15;  // The digits of kMaxUnits.
  const std::string_view text = bound->value();
  Units units = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || text.size() > kDigits) {
      return Fault("attribute " + name +
                   " is the cost of the request and must be a whole number from 0 to "
                   "999999999999999");
    }
    units = (units * 10) + (c - '0');
  }
  if (text.empty()) {
    return Fault("attribute " + name + " is the cost of the request and is empty");
  }
  return Cost{units};
}

ChosenNumbers ChooseNumbers(const CompiledRule& rule, const BoundRequest& request,
                            std::string& scratch) {
  if (!rule.overrides.empty()) {
    std::string_view text;
    if (rule.key.size() == 1) {
      text = request.Get(rule.key.front())->key_text();
    } else {
      scratch.clear();
      for (std::size_t i = 0; i < rule.key.size(); ++i) {
        core::AppendKeyValue(scratch, request.Get(rule.key[i])->key_text(), i == 0);
      }
      text = scratch;
    }
    if (const auto found = rule.overrides.find(text); found != rule.overrides.end()) {
      return {&found->second, nullptr};
    }
  }
  for (const Plan& plan : rule.plans) {
    if (AllHold(plan.match, request)) {
      return {&plan.numbers, &plan};
    }
  }
  return {};
}

core::Quota QuotaUnder(const Rule& rule, const CompiledRule& compiled, const ChosenNumbers& chosen,
                       const BoundRequest& request) {
  core::Quota quota = rule.quota;
  if (chosen.numbers != nullptr) {
    chosen.numbers->ApplyTo(quota);
  }
  if (quota.reserves != nullptr) {
    if (const BoundAttribute* priority = request.Get(compiled.priority)) {
      quota.priority = quota.reserves->TagOf(priority->value());
    }
  }
  return quota;
}

Result<void> RuleSet::Match(Attributes request, Cost cost, const ModeOverrides& modes,
                            Matches& matches, const MatchOptions& options) const {
  const Index& index = *index_;
  const Rule* const only = options.only;
  const bool by_key = options.by_key && only != nullptr;
  Matches::Room& room = *matches.room_;
  room.applied.clear();
  room.skipped.clear();
  room.hits.clear();
  room.parts.clear();
  room.request.Start(index.attributes, options.secrets);
  for (const Attribute& attribute : request) {
    room.request.Bind(index.attributes, attribute.name, attribute.value);
  }

  // An invalid address would match no cidr condition and so avoid the rule: report it instead.
  for (const AttributeId id : index.addresses) {
    const BoundAttribute* value = room.request.Get(id);
    if (value == nullptr || value->is_hash() || value->address().has_value()) {
      continue;
    }
    for (const std::uint32_t reader : index.readers[id]) {
      if (modes.Effective(index.rules[reader]) == Mode::kEnforce) {
        return Fault("attribute " + index.attributes.name(id) + " is not an IP address");
      }
    }
  }

  // First find which rules match, because that decides which are replaced.
  if (by_key) {
    room.candidates.keyless.clear();
    room.candidates.rules.assign(1, only->number);
  } else {
    index.lookup.Find(room.request, room.candidates);
  }
  if (room.replaced.size() < index.rules.size()) {
    room.replaced.resize(index.rules.size());
  }
  ++room.generation;
  bool exempt = false;  // By a rule with action: allow.
  for (const std::uint32_t number : room.candidates.keyless) {
    if (modes.Effective(index.rules[number]) != Mode::kOff) {
      room.skipped.push_back(
          {&index.rules[number], MissingOf(index.compiled[number], room.request)});
    }
  }
  for (const std::uint32_t number : room.candidates.rules) {
    const Rule& rule = index.rules[number];
    const CompiledRule& compiled = index.compiled[number];
    const Mode mode = modes.Effective(rule);
    if (!by_key && (mode == Mode::kOff || !AllHold(compiled.match, room.request))) {
      continue;
    }
    const AttributeId missing = MissingOf(compiled, room.request);
    const bool key_missing = missing != SkippedRule::kNone;
    if (key_missing && rule.on_missing == OnMissing::kSkip) {
      room.skipped.push_back({&rule, missing});
      continue;
    }
    room.hits.push_back(
        {number, mode == Mode::kShadow, key_missing || rule.action != Action::kLimit});
    if (mode == Mode::kEnforce) {
      exempt = exempt || rule.action == Action::kAllow;
      for (const std::uint32_t other : compiled.replaces) {
        room.replaced[other] = room.generation;
      }
    }
  }

  exempt = exempt && std::ranges::any_of(room.hits, [&](const auto& hit) {
             return index.rules[hit.rule].action == Action::kAllow && !hit.shadow &&
                    room.replaced[hit.rule] != room.generation;
           });

  // Then evaluate each of the remaining rules.
  for (const auto& hit : room.hits) {
    const Rule& rule = index.rules[hit.rule];
    if (room.replaced[hit.rule] == room.generation || (only != nullptr && only != &rule) ||
        (exempt && rule.action == Action::kLimit)) {
      continue;
    }
    const CompiledRule& compiled = index.compiled[hit.rule];
    AppliedRule applied{&rule, rule.quota, cost, hit.shadow, hit.key_missing, {}};
    if (!hit.key_missing) {
      auto fault = FaultOfKey(rule, compiled, index.attributes, room.request);
      if (!fault.has_value()) {
        if (auto spent = CostUnder(compiled.cost, index.attributes, room.request, cost,
                                   options.absent_cost)) {
          applied.cost = *spent;
        } else {
          fault = std::move(spent.error());
        }
      }
      if (fault.has_value()) {
        if (!hit.shadow) {
          room.applied.clear();
          return tl::make_unexpected(std::move(*fault));
        }
        room.skipped.push_back({.rule = &rule});
        continue;
      }
      applied.quota = QuotaUnder(
          rule, compiled, ChooseNumbers(compiled, room.request, room.key_text), room.request);
      for (std::size_t i = 0; i < compiled.key.size(); ++i) {
        room.parts.push_back(
            {rule.key[i].name, rule.key[i].type, room.request.Get(compiled.key[i])->key_text()});
      }
    }
    room.applied.push_back(applied);
  }

  if (only != nullptr) {
    std::erase_if(room.skipped,
                  [only](const SkippedRule& skipped) { return skipped.rule != only; });
  }

  // The parts no longer move: set the views of them.
  const core::KeyPart* next = room.parts.data();
  for (AppliedRule& applied : room.applied) {
    if (!applied.key_missing) {
      applied.parts = {next, applied.rule->key.size()};
      next += applied.rule->key.size();
    }
  }
  return {};
}

}  // namespace sluice::rules
