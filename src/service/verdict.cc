#include "service/verdict.h"

#include <algorithm>

namespace sluice::service {

namespace {

bool HasNumber(const Decision& decision) {
  return decision.limit != kUnlimited && !decision.degraded;
}

// `candidate` is declared after `best`; both deny.
bool WaitsLonger(const Decision& candidate, const Decision& best) {
  return candidate.retry_after > best.retry_after;  // kNever > kUnknown > every number.
}

// `candidate` is declared after `best`; both allow.
bool LeavesLess(const Decision& candidate, const Decision& best) {
  if (HasNumber(candidate) != HasNumber(best)) {
    return HasNumber(candidate);
  }
  return HasNumber(candidate) && candidate.remaining < best.remaining;
}

}  // namespace

bool Outranks(const Decision& candidate, const Decision& best) {
  if (candidate.allowed != best.allowed) {
    return best.allowed;
  }
  return best.allowed ? LeavesLess(candidate, best) : WaitsLonger(candidate, best);
}

int Governing(std::span<const RuleDecision> decisions, bool allowed) {
  const Decision* best = nullptr;
  int governing = -1;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const Decision& candidate = decisions[i].decision;
    if (candidate.shadow || candidate.allowed != allowed) {
      continue;
    }
    if (best == nullptr || Outranks(candidate, *best)) {
      best = &candidate;
      governing = static_cast<int>(i);
    }
  }
  return governing;
}

bool EnforcedAllow(std::span<const RuleDecision> decisions) {
  return std::ranges::all_of(
      decisions, [](const RuleDecision& d) { return d.decision.shadow || d.decision.allowed; });
}

bool MayHold(const Verdict& verdict) {
  return std::ranges::any_of(verdict.decisions, [](const RuleDecision& d) {
    return d.hold != 0 || core::HasHolds(d.quota.algorithm);
  });
}

Duration LongestWait(std::span<const RuleDecision> decisions) {
  Duration longest{};
  for (const RuleDecision& d : decisions) {
    if (!d.decision.shadow) {
      longest = std::max(longest, d.decision.wait);
    }
  }
  return longest;
}

}  // namespace sluice::service
