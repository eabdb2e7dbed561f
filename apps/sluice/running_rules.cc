#include "running_rules.h"

#include <utility>

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "proxy_review.h"
#include "rule_refusal.h"
#include "rules/origin.h"
#include "sources/rule_globs.h"

namespace sluice::app {

using frontend::http::RuleRefusal;

namespace {

void Append(std::vector<rules::SourceText> more, std::vector<rules::SourceText>& texts) {
  for (rules::SourceText& text : more) {
    texts.push_back(std::move(text));
  }
}

}  // namespace

RunningRules::RunningRules(service::LimiterService& service, service::ServiceMetrics& metrics,
                           const DaemonConfig& config, sources::FileSource files,
                           std::string api_folder)
    : metrics_(metrics),
      config_(config),
      own_file_(config.own_rules),
      files_(std::move(files)),
      api_(std::move(api_folder)),
      reloader_([this] { return Read(); },
                [&service](std::shared_ptr<const rules::RuleSet> set, const rules::Findings&) {
                  service.SetRules(std::move(set));
                },
                [&config](const rules::RuleSet& set, rules::Findings& findings) {
                  ReviewForProxies(config.listeners, set, findings);
                }) {}

sources::RuleReloader::Sources RunningRules::Read() {
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

void RunningRules::WarnOfChangedSections() {
  std::vector<std::string> sections = own_file_.ChangedSections();
  if (sections == logged_sections_) {
    return;
  }
  logged_sections_ = std::move(sections);
  if (!logged_sections_.empty()) {
    spdlog::warn("{}: {} changed: restart the daemon to apply this", own_file_.path(),
                 fmt::join(logged_sections_, ", "));
  } else {
    spdlog::info("{}: no restart is needed any more", own_file_.path());
  }
}

RunningRules::Texts RunningRules::Beside(Texts etcd, const Documents& documents) const {
  Texts all = sources();
  std::erase_if(all, [](const rules::SourceText& source) {
    const rules::Origin origin = rules::OriginOf(source.name);
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
  const Outcome outcome =
      reloader_.Replace(Beside(texts, api_.documents()), [] { return Result<void>(); });
  if (outcome != Outcome::kFailed) {
    etcd_ = std::move(texts);
  }
  return outcome;
}

tl::expected<void, RuleRefusal> RunningRules::Put(const std::string& id, std::string document) {
  Documents documents = api_.documents();
  const auto changed = documents.insert_or_assign(id, std::move(document)).first;
  const std::string own = api_.Sources({*changed}).front().name;
  return ReplaceApi("rule " + id + " put over the API", documents, own,
                    [&] { return api_.Put(id, changed->second); });
}

tl::expected<void, RuleRefusal> RunningRules::Erase(const std::string& id, std::string_view why) {
  Documents documents = api_.documents();
  documents.erase(id);
  return ReplaceApi(why, documents, "", [&] { return api_.Erase(id); });
}

tl::expected<void, RuleRefusal> RunningRules::ReplaceApi(
    std::string_view why, const Documents& documents, std::string_view changed,
    const std::function<Result<void>()>& keep) {
  bool tried_to_keep = false;
  const Outcome outcome = reloader_.Replace(Beside(etcd_, documents), [&] {
    tried_to_keep = true;
    return keep();
  });
  Report(why, outcome, tried_to_keep ? "the change cannot be stored" : "the new rules are invalid");
  if (outcome != Outcome::kFailed) {
    return {};
  }
  const std::vector<Error>& errors = findings().errors;
  return tried_to_keep ? Refused(503, "not_kept", errors.front().Text(), errors)
                       : RefusedRule(changed, errors);
}

void RunningRules::Report(std::string_view why, Outcome outcome, std::string_view failure) {
  WarnOfChangedSections();
  const bool published = outcome == Outcome::kPublished;
  if (outcome != Outcome::kUnchanged) {
    metrics_.CountReload(published);
  }
  if (published) {
    for (const Error& warning : findings().warnings) {
      spdlog::warn("{}", warning.Text());
    }
    for (const Error& warning : sources::WarnOfEmptyGlobs(config_.rule_files)) {
      spdlog::warn("rule_sources: {}", warning.Text());
    }
    const std::size_t rules = set()->rules().size();
    spdlog::info("{}: {} {} active", why, rules, rules == 1 ? "rule is" : "rules are");
  } else if (outcome == Outcome::kFailed && set() != nullptr) {
    spdlog::error("{}: {}, the running rules stay active:{}", why, failure,
                  Lines(findings().errors));
  }
}

}  // namespace sluice::app
