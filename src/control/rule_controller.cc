#include "control/rule_controller.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "control/log_event.h"
#include "control/rule_text.h"
#include "rules/rule.h"
#include "service/active_rules.h"

namespace sluice::control {

namespace {

using Outcome = RunningRules::Outcome;

// Read between two steps of a change, a file that is away for a moment would lift all of its
// limits.
constexpr std::chrono::milliseconds kSettle{50};

}  // namespace

RuleController::RuleController(net::EventLoop& loop, service::LimiterService& service,
                               service::ServiceMetrics& metrics, ModeFile& modes,
                               RuleSources sources, sources::FileSource files)
    : modes_(modes),
      sources_(std::move(sources)),
      running_(service, metrics, sources_, std::move(files)) {
  if (sources_.etcd) {
    fleet_.emplace(loop, *sources_.etcd,
                   sources_.folder.empty() ? "" : sources_.folder + "/etcd.json", running_);
  }
}

Result<std::unique_ptr<RuleController>> RuleController::Create(
    net::EventLoop& loop, service::LimiterService& service, service::ServiceMetrics& metrics,
    ModeFile& modes, RuleSources sources, const std::function<bool()>& is_over) {
  std::vector<std::string> watched;
  if (!sources.own.name.empty()) {
    watched.push_back(sources.own.name);
  }
  auto files = sources::FileSource::Create(sources.files, std::move(watched));
  if (!files) {
    return tl::unexpected(files.error());
  }
  std::unique_ptr<RuleController> made(
      new RuleController(loop, service, metrics, modes, std::move(sources), *std::move(files)));
  if (auto loaded = made->LoadFirst(loop, is_over); !loaded) {
    return tl::unexpected(loaded.error());
  }
  return made;
}

Result<void> RuleController::LoadFirst(net::EventLoop& loop, const std::function<bool()>& is_over) {
  if (auto loaded = running_.api().Load(); !loaded) {
    return loaded;
  }
  const Outcome outcome = fleet_ ? fleet_->LoadFirst(is_over) : running_.Reload();
  running_.Report("start", outcome);
  if (outcome != Outcome::kPublished) {
    return tl::unexpected(
        Error{.message = "the rules are invalid:" + Lines(running_.findings().errors)});
  }
  if (is_over()) {
    return tl::unexpected(Error{.message = "the start was ended while the rules were loaded"});
  }
  auto follower =
      sources::FileFollower::Create(loop, running_.files(), kSettle, [this] { OnFilesChanged(); });
  if (!follower) {
    return tl::unexpected(follower.error());
  }
  follower_ = *std::move(follower);
  return {};
}

void RuleController::OnFilesChanged() {
  running_.Report("rule files changed", running_.Reload());
  TryFleetAgain();
}

void RuleController::ReloadOnDemand() {
  if (const auto loaded = running_.api().Load(); !loaded) {
    const std::string why = loaded.error().Text();
    LogEvent(spdlog::level::err, "api_rules_unreadable",
             "SIGHUP: the rules stored over the API cannot be read and stay unchanged: " + why,
             {{"cause", "SIGHUP"}, {"reason", why}});
  }
  const Outcome outcome = running_.Reload();
  running_.Report("SIGHUP", outcome);
  if (outcome == Outcome::kUnchanged) {
    running_.metrics().CountReload(true);
    LogEvent(spdlog::level::info, "rules_unchanged", "SIGHUP: rules reloaded, nothing changed",
             {{"cause", "SIGHUP"}});
  } else if (outcome == Outcome::kStillFailed) {  // All of their errors are in the log.
    LogEvent(spdlog::level::err, "rules_invalid",
             fmt::format("SIGHUP: the rules are still invalid, the running rules stay active: {}",
                         running_.last_error()),
             {{"cause", "SIGHUP"}, {"reason", running_.last_error()}});
  }
  TryFleetAgain();
}

void RuleController::TryFleetAgain() {
  if (fleet_) {
    fleet_->TryAgain();
  }
}

void RuleController::CatchUp() {
  if (fleet_) {
    fleet_->CatchUp();
  }
}

std::string RuleController::TextOf(const rules::Rule& rule) const {
  for (const rules::SourceText& text : running_.texts()) {
    if (text.name == rule.place.file) {
      return RuleText(text, rule.id);
    }
  }
  return "{}";
}

Scope ScopeOf(const rules::Rule& rule) {
  return rules::OriginOf(rule.place.file) == rules::Origin::kEtcd ? Scope::kFleet : Scope::kNode;
}

void RuleController::Put(std::string_view id, std::string_view body, OnDone on_done) {
  if (!sources::IsRuleId(id)) {
    on_done(Refused(ErrorCode::kInvalidId, "a rule's id is 1 to 64 of A-Z a-z 0-9 . _ -"));
    return;
  }
  rules::Findings findings;
  std::string document = sources::RuleDocument(id, body, findings);
  if (document.empty()) {
    std::string detail = findings.errors.front().Text();
    on_done(Refused(ErrorCode::kMalformed, std::move(detail), std::move(findings.errors)));
    return;
  }
  if (fleet_) {
    fleet_->Put(std::string(id), std::string(body),
                [on_done = std::move(on_done)](ChangeResult<void> done) {
                  on_done(std::move(done).map([] { return Scope::kFleet; }));
                });
    return;
  }
  on_done(running_.Put(std::string(id), std::move(document)).map([] { return Scope::kNode; }));
}

void RuleController::Delete(std::string_view id, OnDone on_done) {
  const std::string name(id);
  Erase(name, [this, name, on_done = std::move(on_done)](ChangeResult<Scope> done) {
    if (done && rules()->Find(name) == nullptr) {
      // That this may not be stored is no reason to fail: a mode of a rule that is not there does
      // nothing.
      (void)modes_.SetMode(name, std::nullopt);
    }
    on_done(std::move(done));
  });
}

void RuleController::Erase(const std::string& id, OnDone on_done) {
  if (running_.api().documents().contains(id)) {
    on_done(running_.Erase(id, "rule " + id + " deleted over the API").map([] {
      return Scope::kNode;
    }));
    return;
  }
  if (fleet_ && fleet_->Has(id)) {
    fleet_->Erase(id, [on_done = std::move(on_done)](ChangeResult<void> done) {
      on_done(std::move(done).map([] { return Scope::kFleet; }));
    });
    return;
  }
  const rules::Rule* const rule = rules()->Find(id);
  if (rule == nullptr) {
    on_done(Refused(ErrorCode::kNotFound, service::NoSuchRule(id)));
    return;
  }
  on_done(Refused(
      ErrorCode::kReadOnly,
      "this rule comes from " + rule->source +
          ": delete it there. To switch it off now, PUT a rule of the same id with mode: off"));
}

}  // namespace sluice::control
