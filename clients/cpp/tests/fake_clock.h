#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "sluice_client.h"

// Advances when somebody sleeps, and says who slept how long.
class FakeClock : public sluice_client::Clock {
 public:
  sluice_client::Deadline Now() const override { return now_; }
  std::int64_t WallMs() const override {
    return 1'795'953'600'000 + now_.time_since_epoch() / sluice_client::Milliseconds(1);
  }
  void Sleep(sluice_client::Milliseconds time) override {
    slept.push_back(time.count());
    now_ += time;
  }
  double Random() override { return chance; }

  std::vector<std::int64_t> slept;
  double chance = 0;

 private:
  sluice_client::Deadline now_{std::chrono::hours(1)};
};
