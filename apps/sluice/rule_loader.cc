#include "rule_loader.h"

#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>

#include "rule_refusal.h"
#include "rule_text.h"
#include "rules/origin.h"
#include "service/active_rules.h"
#include "state_folder.h"

namespace sluice::app {

namespace {

using Outcome = RunningRules::Outcome;
using frontend::http::Scope;

// Read between two steps of a change, a file that is away for a moment would lift all of its
// limits.
constexpr std::chrono::milliseconds kSettle{50};

// `name` in the folder that keeps what came over the API; "" where there is none.
std::string InApiFolder(const DaemonConfig& config, std::string_view name) {
  const std::string folder = ApiFolder(config);
  return folder.empty() ? "" : folder + "/" + std::string(name);
}

}  // namespace

RuleLoader::RuleLoader(net::EventLoop& loop, service::LimiterService& service,
                       service::ServiceMetrics& metrics, const DaemonConfig& config,
                       sources::FileSource files)
    : loop_(loop),
      running_(service, metrics, config, std::move(files), InApiFolder(config, "rules")) {}

Result<std::unique_ptr<RuleLoader>> RuleLoader::Create(net::EventLoop& loop,
                                                       service::LimiterService& service,
                                                       service::ServiceMetrics& metrics,
                                                       const DaemonConfig& config) {
  std::vector<std::string> watched;
  if (!config.own_rules.name.empty()) {
    watched.push_back(config.own_rules.name);
  }
  auto files = sources::FileSource::Create(config.rule_files, std::move(watched));
  if (!files) {
    return tl::unexpected(files.error());
  }
  std::unique_ptr<RuleLoader> made(
      new RuleLoader(loop, service, metrics, config, *std::move(files)));
  if (config.etcd) {
    auto fleet =
        FleetRules::Create(loop, *config.etcd, InApiFolder(config, "etcd.json"), made->running_);
    if (!fleet) {
      return tl::unexpected(fleet.error());
    }
    made->fleet_ = *std::move(fleet);
  }
  return made;
}

Result<void> RuleLoader::LoadFirst(const std::function<bool()>& is_over) {
  if (auto loaded = running_.api().Load(); !loaded) {
    return loaded;
  }
  const Outcome outcome = fleet_ == nullptr ? running_.Reload() : fleet_->LoadFirst(is_over);
  running_.Report("start", outcome);
  if (outcome != Outcome::kPublished) {
    return tl::unexpected(
        Error{.message = "the rules are invalid:" + Lines(running_.findings().errors)});
  }
  auto follower = FileFollower::Create(loop_, running_.files(), kSettle, [this] {
    running_.Report("rule files changed", running_.Reload());
    TryFleetAgain();
  });
  if (!follower) {
    return tl::unexpected(follower.error());
  }
  follower_ = *std::move(follower);
  return {};
}

void RuleLoader::ReloadOnDemand() {
  if (const auto loaded = running_.api().Load(); !loaded) {
    spdlog::error("SIGHUP: the rules stored over the API cannot be read and stay unchanged: {}",
                  loaded.error().Text());
  }
  const Outcome outcome = running_.Reload();
  running_.Report("SIGHUP", outcome);
  if (outcome == Outcome::kUnchanged) {
    running_.metrics().CountReload(true);
    spdlog::info("SIGHUP: rules reloaded, nothing changed");
  } else if (outcome == Outcome::kStillFailed) {  // All of their errors are in the log.
    spdlog::error("SIGHUP: the rules are still invalid, the running rules stay active: {}",
                  running_.last_error());
  }
  TryFleetAgain();
}

void RuleLoader::TryFleetAgain() {
  if (fleet_ != nullptr) {
    fleet_->TryAgain();
  }
}

void RuleLoader::CatchUp() {
  if (fleet_ != nullptr) {
    fleet_->CatchUp();
  }
}

std::string RuleLoader::TextOf(const rules::Rule& rule) const {
  for (const rules::SourceText& source : running_.sources()) {
    if (source.name == rule.place.file) {
      return RuleText(source, rule.id);
    }
  }
  return "{}";
}

Scope RuleLoader::ScopeOf(const rules::Rule& rule) const {
  return rules::OriginOf(rule.place.file) == rules::Origin::kEtcd ? Scope::kFleet : Scope::kNode;
}

void RuleLoader::Put(std::string_view id, std::string_view body, OnDone on_done) {
  if (!sources::IsRuleId(id)) {
    on_done(Refused(400, "invalid_rule_id", "a rule's id is 1 to 64 of A-Z a-z 0-9 . _ -"));
    return;
  }
  rules::Findings findings;
  std::string document = sources::RuleDocument(id, body, findings);
  if (document.empty()) {
    std::string detail = findings.errors.front().Text();
    on_done(Refused(400, "invalid_json", std::move(detail), std::move(findings.errors)));
    return;
  }
  if (fleet_ != nullptr) {
    fleet_->Put(std::string(id), std::string(body), std::move(on_done));
    return;
  }
  on_done(running_.Put(std::string(id), std::move(document)).map([] { return Scope::kNode; }));
}

void RuleLoader::Delete(std::string_view id, OnDone on_done) {
  const std::string name(id);
  if (running_.api().documents().contains(name)) {
    on_done(running_.Erase(name, "rule " + name + " deleted over the API").map([] {
      return Scope::kNode;
    }));
    return;
  }
  if (fleet_ != nullptr && fleet_->Has(name)) {
    fleet_->Erase(name, std::move(on_done));
    return;
  }
  const rules::Rule* const rule = rules()->Find(id);
  if (rule == nullptr) {
    on_done(Refused(404, "no_such_rule", service::NoSuchRule(id)));
    return;
  }
  on_done(Refused(
      409, "not_from_the_api",
      "this rule comes from " + rule->source +
          ": delete it there. To switch it off now, PUT a rule of the same id with mode: off"));
}

}  // namespace sluice::app
