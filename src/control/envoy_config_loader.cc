#include "control/envoy_config_loader.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "control/change_error.h"
#include "control/log_event.h"

namespace sluice::control {

namespace {

using sources::ReloadCause;

// From the first sign of a change to reading the files: as in rule_controller.cc.
constexpr std::chrono::milliseconds kEnvoySettle{50};

// Where changes are looked for: in the directory, and in the one below it that the files are in.
std::vector<std::string> Watched(const EnvoyFiles& config) {
  const std::filesystem::path directory = config.directory;
  std::vector<std::string> globs{(directory / "*").string()};
  if (!config.prefix.empty()) {
    const std::string app = config.prefix.substr(0, config.prefix.size() - 1);
    globs.push_back((directory / app / "*").string());
  }
  return globs;
}

// The path with dots for slashes, as the old service names its files.
std::string Dotted(std::string name) {
  std::ranges::replace(name, '/', '.');
  return name;
}

}  // namespace

Result<sources::TreeFiles> ReadEnvoyTree(const EnvoyFiles& config) {
  auto tree = sources::ReadTree(config.directory, {.skip_dotfiles = config.skip_dotfiles});
  if (tree) {
    std::erase_if(tree->files, [&config](const rules::SourceText& file) {
      return !Dotted(file.name).starts_with(config.prefix);
    });
  }
  return tree;
}

EnvoyConfigLoader::EnvoyConfigLoader(envoy::RateLimitService& service, const EnvoyFiles& files,
                                     std::function<void()> on_loaded, sources::FileSource watched)
    : service_(service),
      config_(files),
      on_loaded_(std::move(on_loaded)),
      watched_(std::move(watched)) {}

Result<std::unique_ptr<EnvoyConfigLoader>> EnvoyConfigLoader::Create(
    net::EventLoop& loop, envoy::RateLimitService& service, const EnvoyFiles& files,
    std::function<void()> on_loaded) {
  auto watched = sources::FileSource::Create(Watched(files));
  if (!watched) {
    return tl::unexpected(watched.error());
  }
  std::unique_ptr<EnvoyConfigLoader> made(
      new EnvoyConfigLoader(service, files, std::move(on_loaded), *std::move(watched)));
  made->Load(ReloadCause::kStart);
  auto follower = sources::FileFollower::Create(
      loop, made->watched_, kEnvoySettle,
      [loader = made.get()] { loader->Load(ReloadCause::kFilesChanged); });
  if (!follower) {
    return tl::unexpected(follower.error());
  }
  made->follower_ = *std::move(follower);
  return made;
}

Result<EnvoyConfigLoader::Texts> EnvoyConfigLoader::Read() const {
  auto tree = ReadEnvoyTree(config_);
  if (!tree) {
    return tl::unexpected(tree.error());
  }
  for (const Error& skipped : tree->skipped) {
    LogEvent(spdlog::level::warn, "envoy_file_skipped", skipped.Text(),
             {{"reason", skipped.Text()}});
  }
  return std::move(tree->files);
}

void EnvoyConfigLoader::Load(ReloadCause cause) {
  const std::string_view why = NameOf(cause);
  auto files = Read();
  if (!files) {
    Fail(cause, {files.error()}, {}, files.error().Text());
    return;
  }
  if (running_ == *files) {
    failed_.reset();
    if (cause == ReloadCause::kOperator) {
      LogEvent(spdlog::level::info, "envoy_unchanged",
               "SIGHUP: Envoy's limits reloaded, nothing changed", {{"cause", why}});
    }
    return;
  }
  rules::Findings findings;
  auto configuration = envoy::Configuration::Read(*files, config_.reading, findings);
  if (configuration == nullptr) {
    Fail(cause, findings.errors, *std::move(files), "");
    return;
  }
  const std::size_t limits = configuration->limits().size();
  const std::size_t domains = configuration->domain_count();
  service_.SetConfiguration(std::move(configuration));
  service_.metrics().CountLoad(true);
  running_ = *std::move(files);
  failed_.reset();
  if (domains == 0) {
    LogEvent(spdlog::level::warn, "envoy_without_domains",
             fmt::format("{}: no domain is configured below {}: every request is allowed", why,
                         config_.directory),
             {{"cause", why}, {"directory", config_.directory}});
  } else {
    LogEvent(spdlog::level::info, "envoy_loaded",
             fmt::format("{}: loaded {} Envoy limit{} in {} domain{}", why, limits,
                         limits == 1 ? "" : "s", domains, domains == 1 ? "" : "s"),
             {{"cause", why}, {"limits", limits}, {"domains", domains}});
  }
  on_loaded_();
}

void EnvoyConfigLoader::Fail(ReloadCause cause, const std::vector<Error>& errors, Texts texts,
                             std::string unread) {
  service_.metrics().CountLoad(false);
  const std::string_view running =
      running_ ? "the running one stays active" : "there is no other, so calls fail";
  std::pair attempt(std::move(texts), std::move(unread));
  if (failed_ == attempt) {  // All of its errors are in the log.
    if (cause == ReloadCause::kOperator) {
      LogEvent(spdlog::level::err, "envoy_invalid",
               fmt::format("SIGHUP: the configuration of Envoy's domains is still invalid, {}: {}",
                           running, errors.front().Text()),
               {{"cause", NameOf(cause)}, {"reason", errors.front().Text()}});
    }
    return;
  }
  failed_ = std::move(attempt);
  LogEvent(
      spdlog::level::err, "envoy_invalid",
      fmt::format("{}: the configuration of Envoy's domains is invalid, {}:{}", NameOf(cause),
                  running, Lines(errors)),
      {{"cause", NameOf(cause)}, {"reason", errors.front().Text()}, {"errors", errors.size()}});
}

}  // namespace sluice::control
