#include "redis/check_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>

#include "base/random.h"
#include "redis/key_name.h"
#include "redis/key_requests.h"

namespace sluice::redis {

void PartialCheckCall::Prepare(const store::CheckCall& whole) {
  own_answers_.assign(own_checks_.size(), {});
  checks = own_checks_;
  answers = own_answers_;
  atomicity = whole.atomicity;
  peek = whole.peek;
  deadline = whole.deadline;
  error = store::StoreError::kNone;
}

void PartialCheckCall::CopyAnswers(store::CheckCall& whole) const {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    store::CheckAnswer& answer = whole.answers[places_[i]];
    answer = own_answers_[i];
    if (error != store::StoreError::kNone) {
      answer.error = error;
    }
  }
}

namespace {

using store::Check;

// Under how many former ids the key may lie. What is unlimited keeps nothing, under no name.
std::size_t FormersOf(const Check& check) {
  return check.quota.unlimited ? 0 : check.key.formerly.size();
}

void PutCheckKeys(CommandArgs& args, const Check& check) {
  if (check.quota.unlimited) {
    args.PutBeside(check.key.rule, check.key, BesideKey::kBan);  // A key, and no other check's.
  } else {
    args.PutKeys(check.key, check.quota);
  }
}

// The eight values of a check that is asked.
void PutCheck(CommandArgs& args, const Check& check, const Judged& judged, store::HoldId hold) {
  const bool unlimited = check.quota.unlimited;
  args.Put(unlimited ? std::string_view("unlimited") : core::TraitsOf(check.quota.algorithm).steps);
  args.Put(static_cast<std::int64_t>(FormersOf(check)));
  args.PutFlag(check.shadow);
  args.Put(check.cost.units);
  if (unlimited) {
    for (int i = 0; i < 4; ++i) {
      args.PutFlag(false);
    }
  } else {
    args.PutQuota(check.quota, judged, hold);
  }
}

// What guard_begin.lua takes.
void PutGuardKeys(CommandArgs& args, const store::CheckCall& call) {
  for (const Check& check : call.checks) {
    if (check.ban != nullptr) {
      args.PutAllBanKeys(check.key);
    }
  }
}
void PutGuards(CommandArgs& args, const store::CheckCall& call, std::size_t guards) {
  std::int64_t number = 0;
  for (const Check& check : call.checks) {
    number += IsAsked(check) ? 1 : 0;
    if (check.ban != nullptr) {
      args.Put(number);
      args.Put(check.ban->after);
      args.Put(InUs(check.ban->within.count()));
      args.Put(InUs(check.ban->lasts.count()));
      args.Put(static_cast<std::int64_t>(check.key.formerly.size()));
      args.PutAttributesOfBan(check.key);
    }
  }
  args.Put(static_cast<std::int64_t>(guards));
}

// The one check that is asked, if there is only one and it needs nothing but its own key.
const Check* OnlyPlain(const store::CheckCall& call) {
  const Check* only = nullptr;
  for (const Check& check : call.checks) {
    if (IsAsked(check)) {
      if (only != nullptr) {
        return nullptr;
      }
      only = &check;
    }
  }
  return only != nullptr && only->key.formerly.empty() && only->ban == nullptr &&
                 call.request_id == 0
             ? only
             : nullptr;
}

// Where a part of a request over several slots keeps what it charged.
std::string RecordOf(const store::CheckCall& call) {
  const auto first = std::ranges::find_if(call.checks, IsAsked);
  std::string record = "sl1:{";
  AppendTag(first->key.rule, first->key, record);
  record += "}:undo:";
  std::array<char, 24> text;  // NOLINT: to_chars writes it.
  record.append(text.data(),
                std::to_chars(text.data(), text.data() + text.size(), call.request_id, 16).ptr);
  return record;
}

}  // namespace

std::optional<ScriptId> CheckVerb::Append(Call& call, const Judged& judged, std::string& out) {
  std::size_t asked = 0;
  std::size_t keys = 0;
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    const bool holds = core::HasHolds(check.quota.algorithm) && !check.quota.unlimited;
    call.answers[i].hold = holds ? base::UniqueNumber() | 1U : 0;
    if (IsAsked(check)) {
      ++asked;
      keys += 1 + FormersOf(check);
    }
  }
  if (const Check* check = OnlyPlain(call)) {
    const auto i = static_cast<std::size_t>(check - call.checks.data());
    const ScriptId script = ScriptFor(check->quota.algorithm);
    CommandArgs args(out, 3 + 1 + 7);
    args.BeginScript(script, 1);
    args.PutKey(check->key.rule, check->key, check->quota);
    args.PutTime(judged);
    args.PutFlag(call.peek);
    args.Put(check->cost.units);
    args.PutQuota(check->quota, judged, call.answers[i].hold);
    return script;
  }
  std::size_t guards = 0;
  for (const Check& check : call.checks) {
    if (check.ban != nullptr) {
      ++guards;
      keys += 2 * KeysOf(check.key);
    }
  }
  const bool spans = call.request_id != 0;
  const ScriptId script = guards > 0 ? spans ? ScriptId::kGuardedSpan : ScriptId::kGuarded
                          : spans    ? ScriptId::kSpan
                                     : ScriptId::kRequest;
  keys += spans ? 1 : 0;
  CommandArgs args(out, 3 + keys + 2 + 8 * asked + (guards > 0 ? 6 * guards + 1 : 0));
  args.BeginScript(script, keys);
  if (spans) {
    args.Put(RecordOf(call));
  }
  for (const Check& check : call.checks) {
    if (IsAsked(check)) {
      PutCheckKeys(args, check);
    }
  }
  PutGuardKeys(args, call);
  args.PutTime(judged);
  args.Put(call.peek ? "peek" : call.atomicity == store::Atomicity::kAll ? "all" : "each");
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    if (IsAsked(check)) {
      PutCheck(args, check, judged, call.answers[i].hold);
    }
  }
  if (guards > 0) {
    PutGuards(args, call, guards);
  }
  return script;
}

Undo UndoOf(const store::CheckCall& call, const Judged& judged) {
  Undo undo{.script = ScriptId::kSpanUndo};
  const auto asked = static_cast<std::size_t>(std::ranges::count_if(call.checks, IsAsked));
  CommandArgs args(undo.bytes, 3 + 1 + asked + 1 + 6 * asked);
  args.BeginScript(undo.script, 1 + asked);
  args.Put(RecordOf(call));
  for (const Check& check : call.checks) {
    if (IsAsked(check)) {
      args.PutKey(check.key.rule, check.key, check.quota);
    }
  }
  args.PutTime(judged);
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    if (IsAsked(check)) {
      args.PutFragment(check.quota.algorithm);
      args.Put(check.cost.units);
      args.PutQuota(check.quota, judged, call.answers[i].hold);
    }
  }
  return undo;
}

// One for all where the request has an id, else one for each check that was asked: a clamped
// refund, or the release of its hold.
void CheckVerb::AppendUndos(const Call& call, const Judged& judged, std::vector<Undo>& undos) {
  if (call.peek) {
    return;
  }
  if (call.request_id != 0) {
    undos.push_back(UndoOf(call, judged));
    return;
  }
  for (std::size_t i = 0; i < call.checks.size(); ++i) {
    const Check& check = call.checks[i];
    if (!IsAsked(check)) {
      continue;
    }
    Undo& undo = undos.emplace_back();
    if (core::HasHolds(check.quota.algorithm)) {
      undo.script = ScriptId::kRelease;
      AppendRelease(check.key, check.quota, call.answers[i].hold, judged, undo.bytes);
    } else {
      // The mark of a reset is not asked for: while a slot moves, Redis runs nothing on two keys of
      // which one is not there, and this charge would stay.
      CommandArgs args(undo.bytes, 3 + KeysOf(check.key) + 7 + 2);
      PutRefund(args, check.key, check.quota, check.cost.units, judged);
    }
  }
}

}  // namespace sluice::redis
