#include "core/lab_key.h"

#include <algorithm>

namespace sluice::core {

namespace {

TableNow NowAt(WallInstant at) {
  return {.monotonic = TableInstant(at.time_since_epoch()), .wall_clock = at};
}

}  // namespace

Decision LabKey::Check(WallInstant at, Cost cost, Duration held) {
  if (!HasHolds(quota_.algorithm)) {
    return state_.Check(quota_, at, cost);
  }
  const TableNow now = NowAt(at);
  DropReleased(now.monotonic);
  const auto outcome = Concurrency::Check(quota_, in_flight_, now, cost);
  if (!outcome.decision.allowed) {
    in_flight_ = outcome.on_deny;
    return outcome.decision;
  }
  in_flight_ = outcome.on_allow;
  if (cost.units > 0 && !quota_.unlimited) {
    holds_.push_back({.released = now.monotonic + std::min(held, quota_.window),
                      .expiry = now.monotonic + quota_.window,
                      .units = cost.units});
  }
  return outcome.decision;
}

Decision LabKey::Peek(WallInstant at, Cost cost) {
  if (!HasHolds(quota_.algorithm)) {
    return state_.Peek(quota_, at, cost);
  }
  const TableNow now = NowAt(at);
  DropReleased(now.monotonic);
  return Concurrency::Peek(quota_, in_flight_, now, cost).decision;
}

void LabKey::DropReleased(TableInstant now) {
  std::erase_if(holds_, [now](const Hold& hold) { return hold.released <= now; });
  in_flight_ = {};
  for (const Hold& hold : holds_) {
    in_flight_.in_flight += hold.units;
    in_flight_.last_expiry_ns =
        std::max(in_flight_.last_expiry_ns, hold.expiry.time_since_epoch().count());
  }
}

}  // namespace sluice::core
