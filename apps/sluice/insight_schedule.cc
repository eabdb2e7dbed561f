#include "insight_schedule.h"

#include <string_view>

#include <fmt/format.h>

#include "base/display_text.h"
#include "control/log_event.h"
#include "insight/key_text.h"
#include "rules/rule_set.h"

namespace sluice::app {

namespace {

constexpr std::chrono::minutes kReportEvery{10};  // The same key.
constexpr std::size_t kMostLines = 20;            // At once.
constexpr std::size_t kMostReported = 10'000;     // Keys that are remembered.

}  // namespace

InsightSchedule::InsightSchedule(net::EventLoop& control, insight::Insight& insight,
                                 const service::LimiterService& service, HotKeyConfig hot_keys)
    : control_(control), insight_(insight), service_(service), hot_keys_(hot_keys), timer_([this] {
        Tick();
      }) {}

void InsightSchedule::Start() {
  control_.ArmAfter(timer_, insight::Insight::kTick);
}

void InsightSchedule::Stop() {
  timer_.Cancel();
}

void InsightSchedule::Tick() {
  if (insight_.Tick()) {
    ReportHotKeys();
  }
  DropRules();
  control_.ArmAfter(timer_, insight::Insight::kTick);
}

void InsightSchedule::DropRules() {
  auto rules = service_.Rules();
  if (rules == rules_) {
    return;
  }
  rules_ = std::move(rules);
  insight_.KeepRules([this](std::string_view id) {
    return id.starts_with('@') || rules_->Find(id) != nullptr;  // Not of CL.THROTTLE, and Envoy's.
  });
}

void InsightSchedule::ReportHotKeys() {
  const auto shares = insight_.Shares(hot_keys_.share, hot_keys_.requests);
  {
    const std::lock_guard lock(mutex_);
    shares_.clear();
    for (const insight::RuleShare& rule : shares) {
      shares_.emplace(rule.rule, rule.top_share);
    }
  }
  if (hot_keys_.share == 0) {
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(reported_, [now](const auto& each) { return now - each.second >= kReportEvery; });
  std::size_t lines = 0;
  for (const insight::RuleShare& rule : shares) {
    for (const insight::RuleShare::Key& key : rule.keys) {
      if (!IsNews(rule.rule, key.key, now) || ++lines > kMostLines) {
        continue;
      }
      const std::string text = insight::TextOf(insight::PartsOf(key.key));
      control::LogEvent(
          spdlog::level::warn, "hot_key",
          fmt::format("hot key: {} made {:.0f} % of the {} requests that rule {} decided in 30 s; "
                      "see all with: sluice top --rule {}",
                      base::DisplayText(text), key.share * 100, rule.total, rule.rule, rule.rule),
          {{"rule", rule.rule}, {"key", text}, {"share", key.share}, {"requests", rule.total}});
    }
  }
  if (lines > kMostLines) {
    control::LogEvent(
        spdlog::level::warn, "hot_keys_left_out",
        fmt::format("hot keys: {} more; see them with: sluice top", lines - kMostLines),
        {{"count", lines - kMostLines}});
  }
}

bool InsightSchedule::IsNews(const std::string& rule, const std::string& key, SteadyTime now) {
  return reported_.size() < kMostReported && reported_.try_emplace({rule, key}, now).second;
}

void InsightSchedule::Write(telemetry::Exposition& out) const {
  out.Family("sluice_top_key_share",
             "The share of the rule's requests that one key made, in the last minute.",
             telemetry::Exposition::Type::kGauge);
  const auto rules = service_.Rules();
  const std::lock_guard lock(mutex_);
  const auto write = [&](std::string_view id, double share) {
    const telemetry::Label label{.name = "rule", .value = id};
    out.Sample("sluice_top_key_share", {&label, 1}, share);
  };
  for (const rules::Rule& rule : rules->rules()) {
    const auto at = shares_.find(rule.id);
    write(rule.id, at == shares_.end() ? 0 : at->second);
  }
}

}  // namespace sluice::app
