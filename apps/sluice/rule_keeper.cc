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
  const std::string folder = StateFolder(config);
  return folder.empty() ? "" : folder + "/rules";
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
  return std::unique_ptr<RuleKeeper>(
      new RuleKeeper(loop, service, metrics, config, *std::move(files)));
}

Result<std::vector<rules::SourceText>> RuleKeeper::Read() const {
  auto texts = files_.Read();
  if (texts) {
    texts->insert(texts->begin(), config_.own_rules);
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
  const Outcome outcome = reloader_.Reload();
  Report("start", outcome);
  if (outcome != Outcome::kPublished) {
    return tl::unexpected(
        Error{.message = "the rules do not load:" + Lines(reloader_.findings().errors)});
  }
  auto follower = FileFollower::Create(
      loop_, files_, kSettle, [this] { Report("rule files changed", reloader_.Reload()); });
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
    return;
  }
  Report("SIGHUP", outcome);
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

std::string RuleKeeper::TextOf(const rules::Rule& rule) const {
  for (const rules::SourceText& source : reloader_.running_sources()) {
    if (source.name == rule.place.file) {
      return RuleText(source, rule.id);
    }
  }
  return "{}";
}

tl::expected<void, RuleKeeper::RuleRefusal> RuleKeeper::Put(std::string_view id,
                                                            std::string_view body) {
  if (!sources::IsRuleId(id)) {
    return tl::unexpected(RuleRefusal{.status = 400,
                                      .code = "invalid_rule_id",
                                      .detail = "a rule's id is 1 to 64 of A-Z a-z 0-9 . _ -",
                                      .errors = {}});
  }
  rules::Findings findings;
  std::string document = sources::RuleDocument(id, body, findings);
  if (document.empty()) {
    return tl::unexpected(RuleRefusal{.status = 400,
                                      .code = "invalid_json",
                                      .detail = findings.errors.front().Text(),
                                      .errors = std::move(findings.errors)});
  }
  sources::ApiRules::Documents documents = api_.documents();
  const auto changed = documents.insert_or_assign(std::string(id), std::move(document)).first;
  const std::string own = api_.Sources({*changed}).front().name;
  auto done = Change("rule " + std::string(id) + " put over the API", documents,
                     [&] { return api_.Put(changed->first, changed->second); });
  if (!done) {
    // Places in the document are the body's again.
    for (Error& error : done.error().errors) {
      if (error.place.file == own) {
        error.place.file.clear();
        error.place.line -= sources::kLinesBeforeBody;
      }
    }
  }
  return done;
}

tl::expected<void, RuleKeeper::RuleRefusal> RuleKeeper::Delete(std::string_view id) {
  sources::ApiRules::Documents documents = api_.documents();
  const auto found = documents.find(id);
  if (found == documents.end()) {
    const rules::Rule* const rule = rules()->Find(id);
    if (rule == nullptr) {
      return tl::unexpected(RuleRefusal{.status = 404,
                                        .code = "no_such_rule",
                                        .detail = "no rule of this id is in force",
                                        .errors = {}});
    }
    return tl::unexpected(
        RuleRefusal{.status = 409,
                    .code = "not_from_the_api",
                    .detail = "this rule is from " + rule->source +
                              ": take it out there, or put it over the API with mode: off",
                    .errors = {}});
  }
  const std::string name = found->first;
  documents.erase(found);
  return Change("rule " + name + " deleted over the API", documents,
                [&] { return api_.Erase(name); });
}

tl::expected<void, RuleKeeper::RuleRefusal> RuleKeeper::Change(
    std::string_view why, const sources::ApiRules::Documents& documents,
    const std::function<Result<void>()>& keep) {
  // Beside what runs and not beside what the files say now: that may not load, or not be meant
  // yet.
  std::vector<rules::SourceText> sources = reloader_.running_sources();
  std::erase_if(sources, [](const rules::SourceText& source) {
    return rules::OriginOf(source.name) == rules::Origin::kApi;
  });
  for (rules::SourceText& text : api_.Sources(documents)) {
    sources.push_back(std::move(text));
  }
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

}  // namespace sluice::app
