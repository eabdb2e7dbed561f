#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/calendar.h"
#include "core/quota.h"
#include "core/reserves.h"

// Reads the golden vectors. Their format: tests/vectors/README.md.
namespace sluice::support {

// One line: what is asked, and what the answer must be.
struct VectorStep {
  enum class Verb { kCheck, kPeek, kRefund, kSettle, kReset, kRelease, kRenew, kStep };

  int line = 0;   // In its file, from 1.
  Duration at{};  // Since the start of its case.
  Verb verb = Verb::kCheck;
  core::Quota quota{};  // In force, with the priority of who asks.
  Units units = 0;      // Cost, or what is given back, or what it cost in the end.
  std::size_t of = 0;   // Of release, renew and settle: the check that is meant, from 0.
  Duration step{};      // By how much the wall clock steps.

  Decision decision{};                 // Of check and peek.
  bool found = false;                  // Of release and renew.
  Units settled = 0;                   // Of settle.
  bool changes_state = false;          // Else the state stays as it is.
  boost::json::value state = nullptr;  // Afterwards, if it changes; null: a fresh key's.
};

struct VectorCase {
  std::string name;
  core::Algorithm algorithm = core::Algorithm::kFixedWindow;
  WallInstant start{};
  int clocks = 0;  // 0: any store. 1: one whose only clock steps. 2: one with two clocks.
  std::vector<VectorStep> steps;
  // To which the quotas point.
  std::vector<std::unique_ptr<const core::Calendar>> calendars;
  std::vector<std::unique_ptr<const core::Reserves>> reserves;

  [[nodiscard]] bool Has(VectorStep::Verb verb) const;
  // Redis counts in microseconds: whether it can be asked at these instants.
  [[nodiscard]] bool IsInWholeMicroseconds() const;
  // "token_bucket.jsonl:12 (exactly at the limit)".
  [[nodiscard]] std::string PlaceOf(const VectorStep& step) const;
};

// The cases of one algorithm, in their order. Throws if its file is missing or is not as it should.
[[nodiscard]] std::vector<VectorCase> ReadVectors(core::Algorithm algorithm);

}  // namespace sluice::support
