#include "denial_summary.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/display_text.h"
#include "control/log_event.h"
#include "net/event_loop.h"
#include "rules/value_reader.h"

namespace sluice::app {

namespace {
constexpr std::size_t kLongestKey = 100;  // Columns.
}  // namespace

DenialSummary::DenialSummary(net::EventLoop& loop, Duration interval, ReadCounts read_counts,
                             ReadTopKey read_top_key)
    : loop_(loop),
      interval_(interval),
      read_counts_(std::move(read_counts)),
      read_top_key_(std::move(read_top_key)),
      timer_([this] {
        Write();
        Arm();
      }) {}

void DenialSummary::Start() {
  if (interval_ > Duration::zero()) {
    Arm();
  }
}

// The last interval is over early, so that what was denied in it is said too.
void DenialSummary::Stop() {
  timer_.Cancel();
  if (interval_ > Duration::zero()) {
    Write();
  }
}

void DenialSummary::Arm() {
  loop_.ArmAfter(timer_, interval_, net::TimerPrecision::kCoarse);
}

void DenialSummary::Write() {
  std::unordered_map<std::string, Counts> now;
  read_counts_([&](std::string_view rule, const Counts& counts) {
    now.insert_or_assign(std::string(rule), counts);
    const auto before = last_.find(std::string(rule));
    const Counts last = before == last_.end() ? Counts{} : before->second;
    if (counts.denied > last.denied) {
      WriteOne(rule, {.allowed = counts.allowed - std::min(counts.allowed, last.allowed),
                      .denied = counts.denied - last.denied});
    }
  });
  last_ = std::move(now);
}

void DenialSummary::WriteOne(std::string_view rule, const Counts& since) {
  std::string text = fmt::format("rule {} denied {} of {} requests within {}", rule, since.denied,
                                 since.allowed + since.denied, rules::DurationText(interval_));
  const auto top = read_top_key_(rule);
  if (!top) {
    control::LogEvent(spdlog::level::info, "denials", text,
                      {{"rule", rule}, {"denied", since.denied}, {"allowed", since.allowed}});
    return;
  }
  text += fmt::format("; most of {} ({:.0f} %)", base::DisplayText(top->key, kLongestKey),
                      100 * top->share);
  control::LogEvent(spdlog::level::info, "denials", text,
                    {{"rule", rule},
                     {"denied", since.denied},
                     {"allowed", since.allowed},
                     {"top_key", top->key},
                     {"top_share", top->share}});
}

}  // namespace sluice::app
