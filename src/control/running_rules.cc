#include "control/running_rules.h"

#include <utility>

#include <fmt/ranges.h>

#include "control/log_event.h"
#include "rules/rule.h"
#include "sources/file_sets.h"

namespace sluice::control {

namespace {

void Append(RunningRules::Texts more, RunningRules::Texts& texts) {
  for (rules::SourceText& text : more) {
    texts.push_back(std::move(text));
  }
}

std::string ApiFolder(const std::string& folder) {
  return folder.empty() ? "" : folder + "/rules";
}

}  // namespace

RunningRules::RunningRules(service::LimiterService& service, service::ServiceMetrics& metrics,
                           const RuleSources& sources, sources::FileSource files)
    : service_(service),
      metrics_(metrics),
      sources_(sources),
      own_file_(sources.own, sources.check),
      files_(std::move(files)),
      api_(ApiFolder(sources.folder)) {}

tl::expected<RunningRules::Texts, std::vector<Error>> RunningRules::Read() {
  auto own = own_file_.Read();
  if (!own) {
    return tl::unexpected(std::move(own.error()));
  }
  Texts texts{*std::move(own)};
  auto files = files_.Read();
  if (!files) {
    return tl::unexpected(std::vector<Error>{std::move(files.error())});
  }
  Append(*std::move(files), texts);
  Append(etcd_, texts);
  Append(api_.Sources(api_.documents()), texts);
  return texts;
}

std::shared_ptr<const rules::RuleSet> RunningRules::Build(const Texts& texts,
                                                          rules::Findings& findings) const {
  auto set = rules::RuleSet::Build(texts, running_.get(), findings);
  if (set != nullptr && sources_.review) {
    sources_.review(*set, findings);
  }
  return findings.errors.empty() ? set : nullptr;
}

RunningRules::Outcome RunningRules::Reload() {
  auto read = Read();
  if (read && running_ != nullptr && *read == running_texts_) {
    failed_.reset();
    last_error_.clear();
    return Outcome::kUnchanged;
  }
  Attempt attempt{.texts = read ? *read : Texts{}, .unread = read ? "" : Lines(read.error())};
  if (failed_ == attempt) {
    last_error_ = failed_error_;
    return Outcome::kStillFailed;
  }
  findings_ = {};
  auto set = read ? Build(*read, findings_) : nullptr;
  if (!read) {
    findings_.errors = std::move(read.error());
  }
  if (set == nullptr) {
    failed_ = std::move(attempt);
    failed_error_ = findings_.errors.front().Text();
    last_error_ = failed_error_;
    return Outcome::kFailed;
  }
  failed_.reset();
  PutInForce(std::move(set), *std::move(read));
  return Outcome::kPublished;
}

// What was wrong with the texts that Reload() read stays noted: it is not theirs that changed.
RunningRules::Outcome RunningRules::Replace(Texts texts,
                                            const std::function<Result<void>()>& keep) {
  if (running_ != nullptr && texts == running_texts_) {
    return Outcome::kUnchanged;
  }
  findings_ = {};
  auto set = Build(texts, findings_);
  if (set != nullptr) {
    if (auto kept = keep(); !kept) {
      findings_.errors.push_back(std::move(kept.error()));
      set = nullptr;
    }
  }
  if (set == nullptr) {
    last_error_ = findings_.errors.front().Text();
    return Outcome::kFailed;
  }
  PutInForce(std::move(set), std::move(texts));
  return Outcome::kPublished;
}

void RunningRules::PutInForce(std::shared_ptr<const rules::RuleSet> set, Texts texts) {
  running_ = std::move(set);
  running_texts_ = std::move(texts);
  last_error_.clear();
  service_.SetRules(running_);
}

RunningRules::Texts RunningRules::Beside(Texts etcd, const Documents& documents) const {
  Texts all = running_texts_;
  std::erase_if(all, [](const rules::SourceText& text) {
    const rules::Origin origin = rules::OriginOf(text.name);
    return origin == rules::Origin::kEtcd || origin == rules::Origin::kApi;
  });
  Append(std::move(etcd), all);
  Append(api_.Sources(documents), all);
  return all;
}

RunningRules::Outcome RunningRules::ReloadWithEtcd(Texts texts) {
  etcd_ = std::move(texts);
  return Reload();
}

RunningRules::Outcome RunningRules::ReplaceEtcd(Texts texts) {
  const Outcome outcome = Replace(Beside(texts, api_.documents()), [] { return Result<void>(); });
  if (outcome != Outcome::kFailed) {
    etcd_ = std::move(texts);
  }
  return outcome;
}

ChangeResult<void> RunningRules::Put(const std::string& id, std::string document) {
  Documents documents = api_.documents();
  const auto changed = documents.insert_or_assign(id, std::move(document)).first;
  const std::string own = api_.Sources({*changed}).front().name;
  return ReplaceApi("rule " + id + " put over the API", documents, own,
                    [&] { return api_.Put(id, changed->second); });
}

ChangeResult<void> RunningRules::Erase(const std::string& id, std::string_view why) {
  Documents documents = api_.documents();
  documents.erase(id);
  return ReplaceApi(why, documents, "", [&] { return api_.Erase(id); });
}

ChangeResult<void> RunningRules::ReplaceApi(std::string_view why, const Documents& documents,
                                            std::string_view changed,
                                            const std::function<Result<void>()>& keep) {
  bool tried_to_keep = false;
  const Outcome outcome = Replace(Beside(etcd_, documents), [&] {
    tried_to_keep = true;
    return keep();
  });
  Report(why, outcome, tried_to_keep ? "the change cannot be stored" : "the new rules are invalid");
  if (outcome != Outcome::kFailed) {
    return {};
  }
  const std::vector<Error>& errors = findings_.errors;
  return tried_to_keep ? Refused(ErrorCode::kNotStored, errors.front().Text(), errors)
                       : RefusedRule(changed, errors);
}

void RunningRules::Report(std::string_view why, Outcome outcome, std::string_view failure) {
  WarnOfChangedSections();
  const bool published = outcome == Outcome::kPublished;
  if (outcome != Outcome::kUnchanged) {
    metrics_.CountReload(published);
  }
  if (published) {
    for (const Error& warning : findings_.warnings) {
      LogEvent(spdlog::level::warn, "rules_warning", warning.Text(), {{"reason", warning.Text()}});
    }
    for (const Error& warning : sources::WarnOfEmptyGlobs(sources_.files)) {
      LogEvent(spdlog::level::warn, "rules_warning", "rule_sources: " + warning.Text(),
               {{"reason", warning.Text()}});
    }
    const std::size_t rules = running_->rules().size();
    LogEvent(spdlog::level::info, "rules_loaded",
             fmt::format("{}: {} {} active", why, rules, rules == 1 ? "rule is" : "rules are"),
             {{"cause", why}, {"rules", rules}});
  } else if (outcome == Outcome::kFailed && running_ != nullptr) {
    LogEvent(spdlog::level::err, "rules_invalid",
             fmt::format("{}: {}, the running rules stay active:{}", why, failure,
                         Lines(findings_.errors)),
             {{"cause", why}, {"reason", failure}, {"errors", findings_.errors.size()}});
  }
}

void RunningRules::WarnOfChangedSections() {
  std::vector<std::string> sections = own_file_.ChangedSections();
  if (sections == logged_sections_) {
    return;
  }
  logged_sections_ = std::move(sections);
  if (!logged_sections_.empty()) {
    const std::string changed = fmt::format("{}", fmt::join(logged_sections_, ", "));
    LogEvent(spdlog::level::warn, "restart_needed",
             own_file_.path() + ": " + changed + " changed: restart the daemon to apply this",
             {{"file", own_file_.path()}, {"sections", changed}});
  } else {
    LogEvent(spdlog::level::info, "no_restart_needed",
             own_file_.path() + ": no restart is needed any more", {{"file", own_file_.path()}});
  }
}

}  // namespace sluice::control
