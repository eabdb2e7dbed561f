#include "fleet_rules.h"

#include <chrono>
#include <utility>

#include <spdlog/spdlog.h>

#include "rule_refusal.h"

namespace sluice::app {

namespace {

using Outcome = RunningRules::Outcome;

// How long a start waits for etcd: without its rules, requests would pass that it limits.
constexpr std::chrono::seconds kPatience{3};

}  // namespace

Result<std::unique_ptr<FleetRules>> FleetRules::Create(net::EventLoop& loop,
                                                       const EtcdConfig& config,
                                                       std::string copy_file,
                                                       RunningRules& running) {
  std::unique_ptr<FleetRules> made(new FleetRules(running));
  auto etcd = EtcdMirror::Create(loop, config, std::move(copy_file),
                                 [rules = made.get()] { rules->OnChanged(); });
  if (!etcd) {
    return tl::unexpected(etcd.error());
  }
  made->etcd_ = *std::move(etcd);
  return made;
}

Outcome FleetRules::LoadFirst(const std::function<bool()>& is_over) {
  etcd_->Start(kPatience, is_over);
  loaded_ = true;
  rules::Findings findings;
  auto texts = etcd_->Sources(etcd_->documents(), findings);
  if (findings.errors.empty()) {
    if (running_.ReloadWithEtcd(std::move(texts)) == Outcome::kPublished) {
      etcd_->KeepCopy();
      return Outcome::kPublished;
    }
    findings = running_.findings();
  }
  spdlog::error("the rules in etcd are invalid:{}", Lines(findings.errors));
  waits_ = true;
  rules::Findings of_copy;
  texts = etcd_->Sources(etcd_->copied(), of_copy);
  if (of_copy.errors.empty() && running_.ReloadWithEtcd(std::move(texts)) == Outcome::kPublished) {
    return Outcome::kPublished;
  }
  return running_.ReloadWithEtcd({});
}

void FleetRules::TryAgain() {
  if (waits_) {
    OnChanged();
  }
}

void FleetRules::OnChanged() {
  if (!loaded_) {
    return;
  }
  rules::Findings findings;
  auto texts = etcd_->Sources(etcd_->documents(), findings);
  if (!findings.errors.empty()) {
    running_.metrics().CountReload(false);
    spdlog::error("etcd changed: the new rules are invalid, the running rules stay active:{}",
                  Lines(findings.errors));
    waits_ = true;
    return;
  }
  const Outcome outcome = running_.ReplaceEtcd(std::move(texts));
  running_.Report("etcd changed", outcome);
  waits_ = outcome == Outcome::kFailed;
  if (!waits_) {
    etcd_->KeepCopy();
  }
}

tl::expected<void, FleetRules::RuleRefusal> FleetRules::Try(const sources::EtcdDocuments& next,
                                                            const std::string& changed) const {
  rules::Findings findings;
  auto texts = etcd_->Sources(next, findings);
  if (findings.errors.empty()) {
    // A rule of this id that this node alone has gives way.
    RunningRules::Documents own = running_.api().documents();
    own.erase(changed);
    (void)rules::RuleSet::Build(running_.Beside(std::move(texts), own), nullptr, findings);
  }
  if (findings.errors.empty()) {
    return {};
  }
  return RefusedRule(etcd_->NameOf(changed), std::move(findings.errors));
}

void FleetRules::Put(const std::string& id, const std::string& body, OnDone on_done) {
  sources::EtcdDocuments next = etcd_->documents();
  next.insert_or_assign(id, sources::EtcdDocument{.text = body, .mod_revision = 0});
  if (auto good = Try(next, id); !good) {
    on_done(tl::unexpected(std::move(good.error())));
    return;
  }
  etcd_->rules().Put(id, body, [this, id, on_done = std::move(on_done)](const auto& written) {
    on_done(AfterWrite(id, written));
  });
}

void FleetRules::Erase(const std::string& id, OnDone on_done) {
  sources::EtcdDocuments next = etcd_->documents();
  next.erase(id);
  if (auto good = Try(next, id); !good) {
    on_done(tl::unexpected(std::move(good.error())));
    return;
  }
  etcd_->rules().Erase(id, [this, id, on_done = std::move(on_done)](const auto& written) {
    on_done(AfterWrite(id, written));
  });
}

tl::expected<frontend::http::Scope, FleetRules::RuleRefusal> FleetRules::AfterWrite(
    const std::string& id, const tl::expected<void, sources::EtcdRules::WriteFailure>& written) {
  using Kind = sources::EtcdRules::WriteFailure::Kind;
  if (!written) {
    const auto& [kind, why] = written.error();
    if (kind == Kind::kChanged) {
      return Refused(409, "changed",
                     "somebody else changed this rule in etcd first: read it again");
    }
    if (kind == Kind::kRefused) {
      return Refused(503, "not_kept", "etcd did not store the rule, nothing changed: " + why);
    }
    return Refused(503, "outcome_unknown",
                   "etcd did not answer and may have stored the rule: read it again: " + why);
  }
  if (waits_) {
    return Refused(409, "not_in_force",
                   "etcd has stored the rule, but another rule there is invalid, so this one is "
                   "not active yet");
  }
  if (running_.api().documents().contains(id)) {
    if (auto done = running_.Erase(id, "rule " + id + " is now in etcd"); !done) {
      return tl::unexpected(std::move(done.error()));
    }
  }
  return frontend::http::Scope::kFleet;
}

}  // namespace sluice::app
