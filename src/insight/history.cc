#include "insight/history.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::insight {

namespace {

constexpr auto kKept = std::to_array<std::string_view>(
    {"sluice_requests_total", "sluice_decisions_total", "sluice_missing_attributes_total",
     "sluice_rule_reloads_total", "sluice_credential_reloads_total", "sluice_http_requests_total",
     "sluice_untrusted_forwarding_total", "sluice_connections_refused_total",
     "sluice_peer_connections_refused_total", "sluice_table_inserts_total",
     "sluice_table_evictions_total", "sluice_table_full_denials_total",
     "sluice_table_full_allows_total", "sluice_table_snapshot_failures_total",
     "sluice_redis_calls_total"});
constexpr std::string_view kKillSwitch = "sluice_kill_switch";
// Rules may be many: their series leave this many to the rest.
constexpr std::string_view kOfRules = "sluice_decisions_total";
constexpr std::size_t kForTheRest = 256;

std::string KeyOf(const telemetry::Samples::Sample& sample) {
  std::string key = sample.name;
  for (const auto& [label, value] : sample.labels) {
    key.append(1, '\0').append(label).append(1, '\0').append(value);
  }
  return key;
}

bool HasOutcome(const telemetry::Samples::Sample& sample, std::string_view outcome) {
  const auto found = sample.labels.find("outcome");
  return found != sample.labels.end() && found->second == outcome;
}

}  // namespace

bool History::Keeps(std::string_view metric) {
  return metric == kKillSwitch || std::ranges::find(kKept, metric) != kKept.end();
}

void History::Observe(const base::ClockReading& now, const telemetry::Samples& metrics) {
  const bool first = minutes_ == 0;
  Advance(now);
  std::uint64_t allowed_without_store = 0;
  std::uint64_t allowed_when_full = 0;
  for (auto& [key, series] : series_) {
    series.seen = false;
  }
  left_out_ = 0;
  for (const telemetry::Samples::Sample& sample : metrics.all()) {
    if (sample.name == kKillSwitch || !Keeps(sample.name)) {
      continue;
    }
    const std::uint64_t grew = Grow(sample, first);
    allowed_without_store += HasOutcome(sample, "degraded_allowed") ? grew : 0;
    allowed_when_full += sample.name == "sluice_table_full_allows_total" ? grew : 0;
  }
  // Of rules that are gone, once the hour no longer has them.
  std::erase_if(series_, [](const auto& entry) {
    return !entry.second.seen &&
           std::ranges::all_of(entry.second.grew, [](std::uint32_t grew) { return grew == 0; });
  });
  const WallInstant begin = first ? now.wall_clock : observed_;
  Note("store", allowed_without_store > 0, begin, now);
  Note("table-full", allowed_when_full > 0, begin, now);
  Note("kill-switch", metrics.Sum(kKillSwitch) > 0, now.wall_clock, now);
  observed_ = now.wall_clock;
}

void History::Advance(const base::ClockReading& now) {
  if (minutes_ == 0) {
    minutes_ = 1;
    minute_began_ = now.boot;
    minute_began_wall_ = now.wall_clock;
    return;
  }
  const std::int64_t passed = std::max<std::int64_t>(0, (now.boot - minute_began_) / kMinute);
  const auto begun = static_cast<std::size_t>(std::min<std::int64_t>(passed, kMinutes));
  for (std::size_t i = 0; i < begun; ++i) {
    current_ = (current_ + 1) % kMinutes;
    for (auto& [key, series] : series_) {
      series.grew[current_] = 0;
    }
  }
  minutes_ = std::min(minutes_ + begun, kMinutes);
  minute_began_ += passed * kMinute;
  minute_began_wall_ = now.wall_clock - (now.boot - minute_began_);
}

// By how much the counter grew since it was seen last.
std::uint64_t History::Grow(const telemetry::Samples::Sample& sample, bool first) {
  if (sample.value <= 0) {
    return 0;
  }
  auto found = series_.find(KeyOf(sample));
  if (found == series_.end()) {
    const std::size_t room = kMostSeries - (sample.name == kOfRules ? kForTheRest : 0);
    if (series_.size() >= room) {
      ++left_out_;
      return 0;
    }
    found = series_.emplace(KeyOf(sample), Series{.sample = sample}).first;
    found->second.sample.value = first ? sample.value : 0;
  }
  Series& series = found->second;
  series.seen = true;
  const double grew = std::max(0.0, sample.value - series.sample.value);
  series.sample.value = sample.value;
  std::uint32_t& minute = series.grew[current_];
  constexpr double kMost = 0xffff'ffff;
  minute = static_cast<std::uint32_t>(std::min(kMost, minute + grew));
  return static_cast<std::uint64_t>(grew);
}

void History::Note(std::string_view cause, bool active, WallInstant begin,
                   const base::ClockReading& now) {
  const auto lasting = std::find_if(
      fail_open_.rbegin(), fail_open_.rend(),
      [&](const Period& period) { return period.cause == cause && !period.end.has_value(); });
  if (active) {
    last_active_[cause] = now.boot;
    if (lasting == fail_open_.rend()) {
      fail_open_.push_back({.cause = cause, .begin = begin, .end = std::nullopt});
    }
    if (fail_open_.size() > kMostPeriods) {
      fail_open_.pop_front();
    }
  } else if (lasting != fail_open_.rend() && now.boot - last_active_[cause] >= kTick) {
    lasting->end = now.wall_clock;
  }
}

}  // namespace sluice::insight
