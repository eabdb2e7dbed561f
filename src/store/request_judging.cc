#include "store/ban_list.h"
#include "store/draft.h"
#include "store/judge.h"
#include "store/request.h"

// Judges the checks of a request on copies of their keys' states. The slots are locked.
namespace sluice::store {

namespace {

Decision Unlimited() {
  return {.allowed = true, .limit = kUnlimited, .remaining = kUnlimited};
}

}  // namespace

void Request::Judge() {
  if (call_.peek) {
    JudgePeeked();
  } else if (call_.atomicity == Atomicity::kAll) {
    JudgeAll();
  } else {
    JudgeEach();
  }
}

// Verdict, reason and wait as for a check, but with the current numbers.
void Request::JudgePeeked() {
  const bool repeats = draft_count_ < call_.checks.size();
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    const Check& check = call_.checks[i];
    Decision& decision = call_.answers[i].decision;
    if (IsBanned(i)) {
      AnswerBanned(i);
      continue;
    }
    if (DraftOf(i).full && !check.quota.unlimited) {
      AnswerFull(i);
      continue;
    }
    decision = PeekBase(i);
    if (!repeats || check.quota.unlimited || check.shadow) {
      continue;
    }
    // A later check of the same key must see what this one would have charged.
    Draft& draft = DraftOf(i);
    const Step step = draft.Judge(core_, turn_, check);
    decision.allowed = step.decision.allowed;
    decision.reason = step.decision.reason;
    decision.retry_after = step.decision.retry_after;
    decision.wait = step.decision.wait;
    if (decision.allowed) {
      draft.Suppose(step);
    }
  }
}

void Request::JudgeAll() {
  // Shadow checks come last: they are charged only with a request that passes, and decide nothing.
  bool denied = false;
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    if (!call_.checks[i].shadow) {
      JudgeInto(i);
      denied = denied || !call_.answers[i].decision.allowed;
    }
  }
  if (!denied) {
    for (std::size_t i = 0; i < call_.checks.size(); ++i) {
      if (call_.checks[i].shadow) {
        JudgeInto(i);
      }
    }
    return;
  }
  // Nothing is charged, so all numbers are the current ones.
  TakeBack();
  for (std::size_t i = 0; i < call_.checks.size(); ++i) {
    CheckAnswer& answer = call_.answers[i];
    if (answer.decision.reason == Reason::kStoreFull || answer.decision.degraded) {
      continue;
    }
    if (IsBanned(i)) {
      AnswerBanned(i);
      continue;
    }
    const Decision now = PeekBase(i);
    if (call_.checks[i].shadow || answer.decision.allowed) {
      answer = {};
      answer.decision = now;
    } else {
      answer.decision.remaining = now.remaining;
      answer.decision.reset_after = now.reset_after;
    }
  }
}

void Request::JudgeEach() {
  // Enforced checks first: a shadow check takes no unit that one of them needs.
  for (const bool shadow : {false, true}) {
    for (std::size_t i = 0; i < call_.checks.size(); ++i) {
      if (call_.checks[i].shadow == shadow) {
        JudgeInto(i);
      }
    }
  }
}

void Request::JudgeInto(std::size_t i) {
  const Check& check = call_.checks[i];
  CheckAnswer& answer = call_.answers[i];
  if (IsBanned(i)) {
    AnswerBanned(i);
    return;
  }
  if (check.quota.unlimited) {
    answer.decision = Unlimited();
    return;
  }
  Draft& draft = DraftOf(i);
  if (draft.full) {
    AnswerFull(i);
    return;
  }
  const Step step = draft.Judge(core_, turn_, check);
  answer.decision = step.decision;
  // An attempt window counts denials too.
  const bool charged = step.decision.allowed || core::ChargesDenials(check.quota.algorithm);
  if (!charged || check.cost.units == 0) {
    return;
  }
  if (!draft.TakeIn(core_, turn_, check, step)) {
    AnswerFull(i);
    return;
  }
  Charged(core_, turn_, check, answer);
}

void Request::AnswerBanned(std::size_t i) {
  const Duration left = TableInstant(Duration(banned_until_ns_[i])) - turn_.now.monotonic;
  call_.answers[i].decision = BannedDecision(call_.checks[i], left, PeekBase(i));
}

void Request::AnswerFull(std::size_t i) {
  call_.answers[i].decision = DecideFull(core_, turn_, call_.checks[i]);
}

Decision Request::PeekBase(std::size_t i) const {
  const Check& check = call_.checks[i];
  return check.quota.unlimited ? Unlimited() : DraftOf(i).Peek(core_, turn_, check);
}

}  // namespace sluice::store
