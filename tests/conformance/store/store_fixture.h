#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>

#include "sluice/time.h"

#include "store/key_store.h"

namespace sluice::conformance {

// A store under the suite, with the clock that it reads.
class StoreFixture {
 public:
  virtual ~StoreFixture() = default;

  virtual store::KeyStore& store() = 0;
  // Moves both of the store's clocks on.
  virtual void Advance(Duration by) = 0;
  // Steps the wall clock alone, either way; if the store has one clock, that one.
  virtual void StepWallClock(Duration by) = 0;
  // Waits are exact up to this, rounded up.
  [[nodiscard]] virtual Duration resolution() const { return Duration(1); }
  // Delivers every answer that is late.
  virtual void Pump() {}
};

struct NamedFixture {
  std::string name;
  std::function<std::unique_ptr<StoreFixture>()> make;

  friend void PrintTo(const NamedFixture& fixture, std::ostream* to) { *to << fixture.name; }
};

}  // namespace sluice::conformance
