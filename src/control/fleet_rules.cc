#include "control/fleet_rules.h"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "control/log_event.h"
#include "net/event_loop.h"
#include "sources/api_rules.h"
#include "sources/etcd_copy.h"
#include "sources/files.h"

namespace sluice::control {

namespace {

using Outcome = RunningRules::Outcome;

// How long a start waits for etcd: without its rules, requests would pass that it limits.
constexpr std::chrono::seconds kPatience{3};

sources::EtcdSnapshot ReadCopyFile(const std::string& path) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) {
    return {};
  }
  const auto text = sources::ReadFile(path);
  auto read = text ? sources::ReadCopy(*text) : tl::make_unexpected(text.error());
  if (!read) {
    const std::string why = read.error().Text();
    LogEvent(spdlog::level::err, "etcd_copy_ignored", path + ": " + why + ": the file is ignored",
             {{"file", path}, {"reason", why}});
    return {};
  }
  return *std::move(read);
}

}  // namespace

FleetRules::FleetRules(net::EventLoop& loop, sources::EtcdSettings settings, std::string copy_file,
                       RunningRules& running)
    : loop_(loop),
      running_(running),
      prefix_(settings.prefix),
      copy_file_(std::move(copy_file)),
      copied_(ReadCopyFile(copy_file_)),
      etcd_(loop, std::move(settings), copied_,
            {.on_documents = [this] { OnChanged(); },
             .on_state = [this](sources::EtcdRules::State state,
                                std::string_view why) { OnState(state, why); }}) {}

void FleetRules::AwaitFirstAnswer(const std::function<bool()>& is_over) {
  etcd_.Start();
  bool waits = true;
  net::Timer late([&] { waits = false; });
  loop_.ArmAfter(late, kPatience, net::TimerPrecision::kExact);
  while (waits && !etcd_.answered() && !is_over()) {
    loop_.RunOne();
  }
  if (!etcd_.answered() && !is_over()) {
    const std::size_t count = copied_.documents.size();
    LogEvent(
        spdlog::level::warn, "etcd_copy_used",
        fmt::format("etcd does not answer: starting with a copy of its last rules ({})", count),
        {{"rules", count}});
  }
}

Outcome FleetRules::LoadFirst(const std::function<bool()>& is_over) {
  AwaitFirstAnswer(is_over);
  loaded_ = true;
  rules::Findings findings;
  auto texts = TextsOf(etcd_.documents(), findings);
  if (findings.errors.empty()) {
    if (running_.ReloadWithEtcd(std::move(texts)) == Outcome::kPublished) {
      KeepCopy();
      return Outcome::kPublished;
    }
    findings = running_.findings();
  }
  LogEvent(spdlog::level::err, "rules_invalid",
           "the rules in etcd are invalid:" + Lines(findings.errors),
           {{"source", "etcd"}, {"errors", findings.errors.size()}});
  waits_ = true;
  rules::Findings of_copy;
  texts = TextsOf(copied_.documents, of_copy);
  if (of_copy.errors.empty() && running_.ReloadWithEtcd(std::move(texts)) == Outcome::kPublished) {
    return Outcome::kPublished;
  }
  return running_.ReloadWithEtcd({});
}

std::string FleetRules::SourceName(std::string_view id) const {
  return "etcd:" + prefix_ + std::string(id);
}

RunningRules::Texts FleetRules::TextsOf(const sources::EtcdDocuments& documents,
                                        rules::Findings& findings) const {
  RunningRules::Texts texts;
  texts.reserve(documents.size());
  for (const auto& [id, document] : documents) {
    rules::Findings own;
    if (!sources::IsRuleId(id)) {
      own.errors.push_back({.message =
                                "the key after the prefix must be a rule id: 1 to 64 of A-Z a-z "
                                "0-9 . _ -",
                            .place = {}});
    } else {
      texts.push_back(
          {.name = SourceName(id), .text = sources::RuleDocument(id, document.text, own)});
    }
    for (Error& error : own.errors) {
      error.place.file = SourceName(id);
      findings.errors.push_back(std::move(error));
    }
  }
  return texts;
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
  auto texts = TextsOf(etcd_.documents(), findings);
  if (!findings.errors.empty()) {
    running_.metrics().CountReload(false);
    LogEvent(spdlog::level::err, "rules_invalid",
             "etcd changed: the new rules are invalid, the running rules stay active:" +
                 Lines(findings.errors),
             {{"source", "etcd"},
              {"reason", findings.errors.front().Text()},
              {"errors", findings.errors.size()}});
    waits_ = true;
    return;
  }
  const Outcome outcome = running_.ReplaceEtcd(std::move(texts));
  running_.Report("etcd changed", outcome);
  waits_ = outcome == Outcome::kFailed;
  if (!waits_) {
    KeepCopy();
  }
}

void FleetRules::KeepCopy() {
  if (copy_file_.empty()) {
    return;
  }
  if (const auto kept = sources::WriteDurably(copy_file_, sources::WriteCopy(etcd_.snapshot()));
      !kept) {
    const std::string why = kept.error().Text();
    LogEvent(spdlog::level::err, "etcd_copy_failed", "cannot store a copy of etcd's rules: " + why,
             {{"file", copy_file_}, {"reason", why}});
  }
}

void FleetRules::OnState(sources::EtcdRules::State state, std::string_view why) {
  using State = sources::EtcdRules::State;
  const bool followed = following_.exchange(state != State::kAway, std::memory_order_relaxed);
  switch (state) {
    case State::kFollowing:
      LogEvent(spdlog::level::info, "etcd_following",
               fmt::format("following the rules in etcd at {}", why), {{"endpoint", why}});
      return;
    case State::kAway:
      lost_connections_.fetch_add(followed ? 1U : 0U, std::memory_order_relaxed);
      LogEvent(spdlog::level::warn, "etcd_lost",
               fmt::format("lost connection to etcd, its rules stay active: {}", why),
               {{"reason", why}});
      return;
    case State::kLost:
      LogEvent(spdlog::level::err, "etcd_failed", why, {{"reason", why}});
      return;
  }
}

ChangeResult<void> FleetRules::Try(const sources::EtcdDocuments& next,
                                   const std::string& changed) const {
  rules::Findings findings;
  auto texts = TextsOf(next, findings);
  if (findings.errors.empty()) {
    RunningRules::Documents own = running_.api().documents();
    own.erase(changed);
    (void)rules::RuleSet::Build(running_.Beside(std::move(texts), own), nullptr, findings);
  }
  if (findings.errors.empty()) {
    return {};
  }
  return RefusedRule(SourceName(changed), std::move(findings.errors));
}

void FleetRules::Put(const std::string& id, const std::string& body, OnDone on_done) {
  sources::EtcdDocuments next = etcd_.documents();
  next.insert_or_assign(id, sources::EtcdDocument{.text = body, .mod_revision = 0});
  if (auto good = Try(next, id); !good) {
    on_done(std::move(good));
    return;
  }
  etcd_.Put(id, body, AfterWrite(id, std::move(on_done)));
}

void FleetRules::Erase(const std::string& id, OnDone on_done) {
  sources::EtcdDocuments next = etcd_.documents();
  next.erase(id);
  if (auto good = Try(next, id); !good) {
    on_done(std::move(good));
    return;
  }
  etcd_.Erase(id, AfterWrite(id, std::move(on_done)));
}

sources::EtcdRules::OnWritten FleetRules::AfterWrite(const std::string& id, OnDone on_done) {
  return [this, id, on_done = std::move(on_done)](const auto& written) {
    on_done(Finish(id, written));
  };
}

ChangeResult<void> FleetRules::Finish(
    const std::string& id, const tl::expected<void, sources::EtcdRules::WriteFailure>& written) {
  using Kind = sources::EtcdRules::WriteFailure::Kind;
  if (!written) {
    const auto& [kind, why] = written.error();
    if (kind == Kind::kChanged) {
      return Refused(ErrorCode::kConflict,
                     "somebody else changed this rule in etcd first: read it again");
    }
    if (kind == Kind::kRefused) {
      return Refused(ErrorCode::kNotStored, "etcd did not store the rule, nothing changed: " + why);
    }
    return Refused(ErrorCode::kOutcomeUnknown,
                   "etcd did not answer and may have stored the rule: read it again: " + why);
  }
  if (waits_) {
    return Refused(ErrorCode::kNotActive,
                   "etcd has stored the rule, but another rule there is invalid, so this one is "
                   "not active yet");
  }
  if (running_.api().documents().contains(id)) {
    return running_.Erase(id, "rule " + id + " is now in etcd");
  }
  return {};
}

void FleetRules::Write(telemetry::Exposition& out) const {
  using telemetry::Exposition;
  out.Family("sluice_etcd_up", "1 while this node follows the rules in etcd.",
             Exposition::Type::kGauge);
  out.Sample("sluice_etcd_up", {},
             std::uint64_t{following_.load(std::memory_order_relaxed) ? 1U : 0U});
  out.Family("sluice_etcd_losses_total", "Lost connections to etcd.", Exposition::Type::kCounter);
  out.Sample("sluice_etcd_losses_total", {}, lost_connections_.load(std::memory_order_relaxed));
}

}  // namespace sluice::control
