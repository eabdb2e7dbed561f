#include "rule_keeper.h"

#include <chrono>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "rule_text.h"
#include "rules/origin.h"
#include "sources/rule_globs.h"
#include "state_folder.h"

namespace sluice::app {

namespace {

using Outcome = sources::RuleReloader::Outcome;

// Read between two steps of a change, a file that is away for a moment would lift all of its
// limits.
constexpr std::chrono::milliseconds kSettle{50};

// The API's folder within the state folder; "" for none.
std::string RulesFolder(const DaemonConfig& config) {
  const std::string folder = ApiFolder(config);
  return folder.empty() ? "" : folder + "/rules";
}

// Of etcd's rules; "" for none.
std::string CopyFile(const DaemonConfig& config) {
  const std::string folder = ApiFolder(config);
  return folder.empty() ? "" : folder + "/etcd.json";
}

// How long a start waits for etcd: without its rules, requests would pass that it limits.
constexpr std::chrono::seconds kEtcdPatience{3};

// What `running` has of other origins than `origin`, and then `texts`.
std::vector<rules::SourceText> Replaced(std::vector<rules::SourceText> running,
                                        rules::Origin origin,
                                        std::vector<rules::SourceText> texts) {
  std::erase_if(running, [&](const rules::SourceText& source) {
    return rules::OriginOf(source.name) == origin;
  });
  for (rules::SourceText& text : texts) {
    running.push_back(std::move(text));
  }
  return running;
}

// Places in the document named `own` are the body's again that it was made of.
void PlaceInBody(std::string_view own, std::vector<Error>& errors) {
  for (Error& error : errors) {
    if (error.place.file == own) {
      error.place.file.clear();
      error.place.line -= sources::kLinesBeforeBody;
    }
  }
}

std::string Lines(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) {
    text += "\n" + error.Text();
  }
  return text;
}

}  // namespace

RuleKeeper::RuleKeeper(net::EventLoop& loop, service::LimiterService& service,
                       service::ServiceMetrics& metrics, const DaemonConfig& config,
                       sources::FileSource files)
    : loop_(loop),
      metrics_(metrics),
      config_(config),
      files_(std::move(files)),
      api_(RulesFolder(config)),
      reloader_([this] { return Read(); },
                [&service](std::shared_ptr<const rules::RuleSet> set, const rules::Findings&) {
                  service.SetRules(std::move(set));
                }) {}

Result<std::unique_ptr<RuleKeeper>> RuleKeeper::Create(net::EventLoop& loop,
                                                       service::LimiterService& service,
                                                       service::ServiceMetrics& metrics,
                                                       const DaemonConfig& config) {
  auto files = sources::FileSource::Create(config.rule_files);
  if (!files) {
    return tl::unexpected(files.error());
  }
  std::unique_ptr<RuleKeeper> made(
      new RuleKeeper(loop, service, metrics, config, *std::move(files)));
  if (config.etcd) {
    auto etcd = EtcdKeeper::Create(loop, *config.etcd, CopyFile(config),
                                   [keeper = made.get()] { keeper->OnEtcdChanged(); });
    if (!etcd) {
      return tl::unexpected(etcd.error());
    }
    made->etcd_ = *std::move(etcd);
  }
  return made;
}

Result<std::vector<rules::SourceText>> RuleKeeper::Read() const {
  auto texts = files_.Read();
  if (texts) {
    texts->insert(texts->begin(), config_.own_rules);
    texts->insert(texts->end(), etcd_in_force_.begin(), etcd_in_force_.end());
    for (rules::SourceText& text : api_.Sources(api_.documents())) {
      texts->push_back(std::move(text));
    }
  }
  return texts;
}

Result<void> RuleKeeper::LoadFirst() {
  if (auto loaded = api_.Load(); !loaded) {
    return loaded;
  }
  const Outcome outcome = etcd_ == nullptr ? reloader_.Reload() : LoadFirstWithEtcd();
  Report("start", outcome);
  if (outcome != Outcome::kPublished) {
    return tl::unexpected(
        Error{.message = "the rules do not load:" + Lines(reloader_.findings().errors)});
  }
  loaded_ = true;
  auto follower = FileFollower::Create(loop_, files_, kSettle, [this] {
    Report("rule files changed", reloader_.Reload());
    if (etcd_waits_) {
      OnEtcdChanged();  // Perhaps it was the files that its rules waited for.
    }
  });
  if (!follower) {
    return tl::unexpected(follower.error());
  }
  follower_ = *std::move(follower);
  return {};
}

void RuleKeeper::ReloadOnDemand() {
  if (const auto loaded = api_.Load(); !loaded) {
    spdlog::error("SIGHUP: the API's rules stay as they are: {}", loaded.error().Text());
  }
  const Outcome outcome = reloader_.Reload();
  if (outcome == Outcome::kUnchanged) {
    metrics_.CountReload(true);
    spdlog::info("SIGHUP: the rules are those in force");
  } else {
    Report("SIGHUP", outcome);
  }
  if (etcd_waits_) {
    OnEtcdChanged();
  }
}

void RuleKeeper::Report(std::string_view why, Outcome outcome) {
  const bool published = outcome == Outcome::kPublished;
  if (outcome != Outcome::kUnchanged) {
    metrics_.CountReload(published);
  }
  if (published) {
    for (const Error& warning : reloader_.findings().warnings) {
      spdlog::warn("{}", warning.Text());
    }
    for (const Error& warning : sources::WarnOfEmptyGlobs(config_.rule_files)) {
      spdlog::warn("rule_sources: {}", warning.Text());
    }
    spdlog::info("{}: {} rules in force", why, reloader_.running()->rules().size());
  } else if (outcome == Outcome::kFailed && reloader_.running() != nullptr) {
    spdlog::error("{}: the new rules do not load, the running ones stay in force:{}", why,
                  Lines(reloader_.findings().errors));
  }
}

void RuleKeeper::CatchUp() {
  if (etcd_ != nullptr) {
    etcd_->rules().CatchUp();
  }
}

std::string RuleKeeper::TextOf(const rules::Rule& rule) const {
  for (const rules::SourceText& source : reloader_.running_sources()) {
    if (source.name == rule.place.file) {
      return RuleText(source, rule.id);
    }
  }
  return "{}";
}

RuleKeeper::Scope RuleKeeper::ScopeOf(const rules::Rule& rule) const {
  return rules::OriginOf(rule.place.file) == rules::Origin::kEtcd ? Scope::kFleet : Scope::kNode;
}

void RuleKeeper::Put(std::string_view id, std::string_view body, OnDone on_done) {
  if (!sources::IsRuleId(id)) {
    on_done(tl::unexpected(RuleRefusal{.status = 400,
                                       .code = "invalid_rule_id",
                                       .detail = "a rule's id is 1 to 64 of A-Z a-z 0-9 . _ -",
                                       .errors = {}}));
    return;
  }
  rules::Findings findings;
  std::string document = sources::RuleDocument(id, body, findings);
  if (document.empty()) {
    on_done(tl::unexpected(RuleRefusal{.status = 400,
                                       .code = "invalid_json",
                                       .detail = findings.errors.front().Text(),
                                       .errors = std::move(findings.errors)}));
    return;
  }
  if (etcd_ != nullptr) {
    PutInEtcd(std::string(id), std::string(body), std::move(on_done));
    return;
  }
  sources::ApiRules::Documents documents = api_.documents();
  const auto changed = documents.insert_or_assign(std::string(id), std::move(document)).first;
  const std::string own = api_.Sources({*changed}).front().name;
  auto done = Change("rule " + std::string(id) + " put over the API", documents,
                     [&] { return api_.Put(changed->first, changed->second); });
  if (!done) {
    PlaceInBody(own, done.error().errors);
    on_done(tl::unexpected(std::move(done.error())));
    return;
  }
  on_done(Scope::kNode);
}

void RuleKeeper::Delete(std::string_view id, OnDone on_done) {
  sources::ApiRules::Documents documents = api_.documents();
  const auto found = documents.find(id);
  if (found != documents.end()) {
    const std::string name = found->first;
    documents.erase(found);
    auto done = Change("rule " + name + " deleted over the API", documents,
                       [&] { return api_.Erase(name); });
    if (!done) {
      on_done(tl::unexpected(std::move(done.error())));
    } else {
      on_done(Scope::kNode);
    }
    return;
  }
  if (etcd_ != nullptr && etcd_->documents().contains(id)) {
    DeleteInEtcd(std::string(id), std::move(on_done));
    return;
  }
  const rules::Rule* const rule = rules()->Find(id);
  if (rule == nullptr) {
    on_done(tl::unexpected(RuleRefusal{.status = 404,
                                       .code = "no_such_rule",
                                       .detail = "no rule of this id is in force",
                                       .errors = {}}));
    return;
  }
  on_done(tl::unexpected(
      RuleRefusal{.status = 409,
                  .code = "not_from_the_api",
                  .detail = "this rule is from " + rule->source +
                            ": take it out there, or put it over the API with mode: off",
                  .errors = {}}));
}

tl::expected<void, RuleKeeper::RuleRefusal> RuleKeeper::Change(
    std::string_view why, const sources::ApiRules::Documents& documents,
    const std::function<Result<void>()>& keep) {
  // Beside what runs and not beside what the files say now: that may not load, or not be meant
  // yet.
  auto sources =
      Replaced(reloader_.running_sources(), rules::Origin::kApi, api_.Sources(documents));
  bool tried_to_keep = false;
  const Outcome outcome = reloader_.Replace(std::move(sources), [&] {
    tried_to_keep = true;
    return keep();
  });
  Report(why, outcome);
  if (outcome != Outcome::kFailed) {
    return {};
  }
  std::vector<Error> errors = reloader_.findings().errors;
  return tl::unexpected(
      RuleRefusal{.status = tried_to_keep ? 503 : 422,
                  .code = tried_to_keep ? "not_kept" : "invalid_rule",
                  .detail = tried_to_keep ? errors.front().Text() : errors.front().message,
                  .errors = errors});
}

// etcd.

// There is nothing to fall back on yet: what etcd holds, else what it held at the last visit, else
// nothing of it. A rule there that does not load must not keep a fleet from starting.
Outcome RuleKeeper::LoadFirstWithEtcd() {
  etcd_->Start(kEtcdPatience);
  Outcome outcome = Outcome::kFailed;
  rules::Findings findings;
  etcd_in_force_ = etcd_->Sources(etcd_->documents(), findings);
  if (findings.errors.empty()) {
    outcome = reloader_.Reload();
    findings = reloader_.findings();
  }
  if (outcome == Outcome::kPublished) {
    etcd_->KeepCopy();
    return outcome;
  }
  spdlog::error("the rules in etcd do not load:{}", Lines(findings.errors));
  etcd_waits_ = true;
  rules::Findings of_copy;
  etcd_in_force_ = etcd_->Sources(etcd_->copied(), of_copy);
  if (of_copy.errors.empty()) {
    outcome = reloader_.Reload();
  }
  if (outcome != Outcome::kPublished) {
    etcd_in_force_.clear();
    outcome = reloader_.Reload();
  }
  return outcome;
}

std::vector<rules::SourceText> RuleKeeper::WithEtcd(std::vector<rules::SourceText> texts) const {
  return Replaced(Replaced(reloader_.running_sources(), rules::Origin::kApi, {}),
                  rules::Origin::kEtcd, std::move(texts));
}

// Beside the files that run and not beside what they say now, as changes over the API are.
void RuleKeeper::OnEtcdChanged() {
  if (!loaded_) {
    return;
  }
  rules::Findings findings;
  auto texts = etcd_->Sources(etcd_->documents(), findings);
  if (!findings.errors.empty()) {
    metrics_.CountReload(false);
    spdlog::error("etcd changed: the new rules do not load, the running ones stay in force:{}",
                  Lines(findings.errors));
    etcd_waits_ = true;
    return;
  }
  auto all = WithEtcd(texts);
  for (rules::SourceText& text : api_.Sources(api_.documents())) {
    all.push_back(std::move(text));
  }
  const Outcome outcome = reloader_.Replace(std::move(all), [] { return Result<void>(); });
  Report("etcd changed", outcome);
  etcd_waits_ = outcome == Outcome::kFailed;
  if (!etcd_waits_) {
    etcd_in_force_ = std::move(texts);
    etcd_->KeepCopy();
  }
}

std::optional<RuleKeeper::RuleRefusal> RuleKeeper::RefusalOf(const sources::EtcdDocuments& next,
                                                             std::string_view changed) const {
  rules::Findings findings;
  auto texts = etcd_->Sources(next, findings);
  if (findings.errors.empty()) {
    // A rule of this id that this node alone has gives way.
    sources::ApiRules::Documents own = api_.documents();
    if (const auto found = own.find(changed); found != own.end()) {
      own.erase(found);
    }
    auto all = WithEtcd(std::move(texts));
    for (rules::SourceText& text : api_.Sources(own)) {
      all.push_back(std::move(text));
    }
    (void)rules::RuleSet::Build(all, nullptr, findings);
  }
  if (findings.errors.empty()) {
    return std::nullopt;
  }
  PlaceInBody(etcd_->NameOf(changed), findings.errors);
  const std::string detail = findings.errors.front().message;
  return RuleRefusal{.status = 422,
                     .code = "invalid_rule",
                     .detail = detail,
                     .errors = std::move(findings.errors)};
}

void RuleKeeper::PutInEtcd(const std::string& id, const std::string& body, OnDone on_done) {
  sources::EtcdDocuments next = etcd_->documents();
  next.insert_or_assign(id, sources::EtcdDocument{.text = body, .mod_revision = 0});
  if (auto refusal = RefusalOf(next, id)) {
    on_done(tl::unexpected(*std::move(refusal)));
    return;
  }
  etcd_->rules().Put(id, body, [this, id, on_done = std::move(on_done)](const auto& written) {
    OnEtcdWritten(id, written, on_done);
  });
}

void RuleKeeper::DeleteInEtcd(const std::string& id, OnDone on_done) {
  sources::EtcdDocuments next = etcd_->documents();
  next.erase(id);
  if (auto refusal = RefusalOf(next, id)) {
    on_done(tl::unexpected(*std::move(refusal)));
    return;
  }
  etcd_->rules().Erase(id, [this, id, on_done = std::move(on_done)](const auto& written) {
    OnEtcdWritten(id, written, on_done);
  });
}

void RuleKeeper::OnEtcdWritten(const std::string& id,
                               const tl::expected<void, sources::EtcdRules::WriteFailure>& written,
                               const OnDone& on_done) {
  using Kind = sources::EtcdRules::WriteFailure::Kind;
  const auto refuse = [&](int status, std::string code, std::string detail) {
    on_done(tl::unexpected(RuleRefusal{
        .status = status, .code = std::move(code), .detail = std::move(detail), .errors = {}}));
  };
  if (!written) {
    const auto& [kind, why] = written.error();
    if (kind == Kind::kChanged) {
      refuse(409, "changed", "somebody else is changing this rule in etcd: read it again");
    } else if (kind == Kind::kRefused) {
      refuse(503, "not_kept", "etcd has not taken it, nothing has changed: " + why);
    } else {
      refuse(503, "outcome_unknown",
             "etcd has not said whether it has taken it, read the rule again: " + why);
    }
    return;
  }
  if (etcd_waits_) {
    refuse(409, "not_in_force",
           "etcd has it, and other rules there that do not load keep it from being in force");
    return;
  }
  sources::ApiRules::Documents own = api_.documents();
  if (own.erase(id) > 0) {
    const auto done = Change("rule " + id + " is etcd's now", own, [&] { return api_.Erase(id); });
    if (!done) {
      on_done(tl::unexpected(done.error()));
      return;
    }
  }
  on_done(Scope::kFleet);
}

}  // namespace sluice::app
