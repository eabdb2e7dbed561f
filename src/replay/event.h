#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "base/clock.h"
#include "rules/rule_set.h"
#include "wire/scalar_object.h"

namespace sluice::replay {

// The clock of a replay. The wall clock is the time of the current event, and the monotonic clock
// advances as the timestamps do. A timestamp earlier than the previous one is a clock that steps
// back: no time has passed, and time continues from there. One thread.
class EventClock final : public base::Clock {
 public:
  [[nodiscard]] base::ClockReading Read() const override { return now_; }

  // The next event happens at `stamp`.
  void MoveTo(WallInstant stamp) {
    now_.boot += std::max(stamp - now_.wall_clock, Duration{});
    now_.wall_clock = stamp;
  }
  // Sets the start of the clock, or restores it after an invalid event.
  void SetTo(const base::ClockReading& reading) { now_ = reading; }

 private:
  base::ClockReading now_;
};

enum class Op : std::uint8_t { kCheck, kPeek, kReset, kRefund, kRelease, kSweep, kRules };

// One parsed line of an event file. Views point into the EventReader.
struct Event {
  WallInstant at;
  Op op = Op::kCheck;
  Cost cost;              // Of a check or peek, or the units of a refund.
  std::int64_t hold = 0;  // Of a release: the n-th hold granted, from 1.
  std::string_view file;  // Of `rules`.
  std::vector<Attribute> attributes;
};

// Reads lines like {"t_ns": 1500000000, "user_id": "a", "cost": 1}.
//
// Every line has a time: t_ns or t_ms since 1970, up to the year 2162. `op` is check (the default),
// peek, reset, refund, release (`hold`), sweep or rules (`file`). Every other member is an
// attribute, except the reserved words of a check's HTTP body, so that a body with a timestamp is
// an event: peek makes it a peek; wait, reserve and receipt have no effect. {"attributes": {...}}
// may have attributes of any name.
//
// Reused from line to line. One thread.
class EventReader {
 public:
  EventReader();

  // The error's message describes the problem of the line, without a position.
  [[nodiscard]] Result<void> Read(std::string_view line);
  // Of the last successful Read(), until the next.
  [[nodiscard]] const Event& event() const { return event_; }

 private:
  [[nodiscard]] Result<void> ReadMember(const wire::JsonMember& member, std::string_view line);
  [[nodiscard]] Result<void> ReadStamp(const wire::JsonMember& member);
  [[nodiscard]] Result<void> CheckWhole() const;

  wire::ScalarObject object_;
  Event event_;
  bool has_stamp_ = false;
  bool has_hold_ = false;
  bool has_file_ = false;
  bool asks_to_peek_ = false;
};

// Reads and builds one rule file. nullptr if it cannot be read or has errors. They are in
// `findings`, with positions in `path` as it is written.
[[nodiscard]] std::shared_ptr<const rules::RuleSet> LoadRuleFile(const std::filesystem::path& path,
                                                                 const rules::RuleSet* running,
                                                                 rules::Findings& findings);

}  // namespace sluice::replay
