#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"
#include "sluice/result.h"
#include "sluice/time.h"

#include "wire/scalar_object.h"

namespace sluice::replay {

enum class Op : std::uint8_t { kCheck, kPeek, kReset, kRefund, kRelease, kSweep, kRules };

// One line of an event file, read: views point into the EventReader.
struct Event {
  WallInstant at;
  Op op = Op::kCheck;
  Cost cost;              // Of a check or peek; what a refund gives back.
  std::int64_t hold = 0;  // Of a release: the n-th hold granted, from 1.
  std::string_view file;  // Of `rules`.
  std::vector<Attribute> attributes;
};

// Reads lines like {"t_ns": 1500000000, "user_id": "a", "cost": 1}.
//
// Every line states when it happens: t_ns or t_ms since 1970, up to the year 2162. `op` is
// check (the default), peek, reset, refund, release (`hold`), sweep or rules (`file`).
// Every other member is an attribute, but for the reserved words of a check's HTTP body,
// so that a body with a stamp is an event: peek makes a peek of it; wait, reserve and
// receipt decide nothing. {"attributes": {...}} holds attributes of any name.
//
// Reused from line to line. One thread.
class EventReader {
 public:
  EventReader();

  // The error's message says what is wrong with the line; it has no place of its own.
  [[nodiscard]] Result<void> Read(std::string_view line);
  // Of the last Read() that succeeded, until the next.
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

}  // namespace sluice::replay
