#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/time.h"

#include "base/clock.h"
#include "telemetry/samples.h"

namespace sluice::insight {

// What counters of a daemon grew by in each minute of the last hour, and when requests passed
// without a limit. In bounded memory: about a megabyte with kMostSeries. One thread.
class History {
 public:
  static constexpr std::size_t kMinutes = 60;
  static constexpr std::size_t kMostSeries = 2'048;
  static constexpr std::size_t kMostPeriods = 64;
  static constexpr Duration kMinute = std::chrono::minutes(1);
  // How often to call Observe() at least. Periods begin and end with a call, and end after a tick
  // without such requests.
  static constexpr Duration kTick = std::chrono::seconds(15);

  // Whether it keeps this metric: counters of requests, decisions, stores and connections.
  [[nodiscard]] static bool Keeps(std::string_view metric);

  // Takes what the metrics are at `now`. The first call only says from where counters grow.
  void Observe(const base::ClockReading& now, const telemetry::Samples& metrics);

  struct Series {
    telemetry::Samples::Sample sample;           // Its name and labels; the value is the last one.
    std::array<std::uint32_t, kMinutes> grew{};  // A ring: see GrewAt().
    bool seen = false;
  };
  // Counters that grew, by name and labels.
  [[nodiscard]] const std::map<std::string, Series>& series() const { return series_; }
  // Of the minute that began `ago` minutes before the one under way: 0 to minutes() - 1.
  [[nodiscard]] std::uint32_t GrewAt(const Series& series, std::size_t ago) const {
    return series.grew[(current_ + kMinutes - ago) % kMinutes];
  }
  // How many minutes there are, the one under way included: 0 before the first Observe().
  [[nodiscard]] std::size_t minutes() const { return minutes_; }
  // When the minute under way began.
  [[nodiscard]] WallInstant minute_began() const { return minute_began_wall_; }
  // Counters that were left out because there were too many.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  // A time in which requests passed without a limit.
  struct Period {
    std::string_view cause;  // "store", "table-full", "kill-switch".
    WallInstant begin{};
    std::optional<WallInstant> end;  // nullopt: it lasts.
  };
  // The last ones, the oldest first; also those before the last hour.
  [[nodiscard]] const std::deque<Period>& fail_open() const { return fail_open_; }

 private:
  void Advance(const base::ClockReading& now);
  [[nodiscard]] std::uint64_t Grow(const telemetry::Samples::Sample& sample, bool first);
  void Note(std::string_view cause, bool active, WallInstant begin, const base::ClockReading& now);

  std::map<std::string, Series> series_;
  std::size_t current_ = 0;
  std::size_t minutes_ = 0;
  Duration minute_began_{};
  WallInstant minute_began_wall_{};
  WallInstant observed_{};
  std::uint64_t left_out_ = 0;
  std::deque<Period> fail_open_;
  std::map<std::string_view, Duration> last_active_;  // By cause, on the clock of boot.
};

}  // namespace sluice::insight
