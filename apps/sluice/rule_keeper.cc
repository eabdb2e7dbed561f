#include "rule_keeper.h"

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <spdlog/spdlog.h>

#include "sources/rule_globs.h"

namespace sluice::app {

namespace {

using Outcome = sources::RuleReloader::Outcome;

// From the first sign of a change to reading the files. Editors and tools put a file in place
// in steps (away with the old one, a new one, its text), and a step is no set of rules: read
// between two of them, a file that is away for a moment would lift all of its limits.
constexpr std::chrono::milliseconds kSettle{50};

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
      reloader_([this] { return Read(); },
                [&service](std::shared_ptr<const rules::RuleSet> set, const rules::Findings&) {
                  service.SetRules(std::move(set));
                }),
      settled_([this] { Follow(); }) {}

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
  }
  return texts;
}

Result<void> RuleKeeper::LoadFirst() {
  const Outcome outcome = reloader_.Reload();
  Report("start", outcome);
  if (outcome != Outcome::kPublished) {
    return tl::unexpected(
        Error{.message = "the rules do not load:" + Lines(reloader_.findings().errors)});
  }
  // The watcher closes its descriptor, and the source its own.
  const int fd = ::fcntl(files_.fd(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) {
    return tl::unexpected(
        Error{.message = "cannot watch rule files: " + std::generic_category().message(errno)});
  }
  watcher_ = std::make_unique<net::FdWatcher>(loop_, fd, [this] { OnFilesChanged(); });
  return {};
}

void RuleKeeper::OnFilesChanged() {
  if (files_.OnReadable() && !settling_) {
    settling_ = true;
    loop_.ArmAfter(settled_, kSettle, net::TimerPrecision::kExact);
  }
}

void RuleKeeper::Follow() {
  settling_ = false;
  Report("rule files changed", reloader_.Reload());
}

void RuleKeeper::ReloadOnDemand() {
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

}  // namespace sluice::app
