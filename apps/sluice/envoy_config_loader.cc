#include "envoy_config_loader.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include <spdlog/spdlog.h>

#include "sources/tree_files.h"

namespace sluice::app {

namespace {

// From the first sign of a change to reading the files: as in rule_loader.cc.
constexpr std::chrono::milliseconds kEnvoySettle{50};

// Where changes are looked for: in the directory, and in the one below it that the files are in.
std::vector<std::string> Watched(const EnvoyConfig& config) {
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

// Lengths keep two splits of one text apart.
std::string Joined(const std::vector<rules::SourceText>& files) {
  std::string joined = "read\n";
  for (const rules::SourceText& file : files) {
    joined += std::to_string(file.name.size()) + ' ' + std::to_string(file.text.size()) + '\n' +
              file.name + file.text;
  }
  return joined;
}

}  // namespace

Result<sources::TreeFiles> ReadEnvoyTree(const EnvoyConfig& config) {
  auto tree = sources::ReadTree(config.directory, {.skip_dotfiles = config.skip_dotfiles});
  if (tree) {
    std::erase_if(tree->files, [&config](const rules::SourceText& file) {
      return !Dotted(file.name).starts_with(config.prefix);
    });
  }
  return tree;
}

EnvoyConfigLoader::EnvoyConfigLoader(net::EventLoop& loop, envoy::RateLimitService& service,
                                     const EnvoyConfig& config, std::function<void()> on_loaded,
                                     sources::FileSource files)
    : loop_(loop),
      service_(service),
      config_(config),
      on_loaded_(std::move(on_loaded)),
      files_(std::move(files)) {}

Result<std::unique_ptr<EnvoyConfigLoader>> EnvoyConfigLoader::Create(
    net::EventLoop& loop, envoy::RateLimitService& service, const EnvoyConfig& config,
    std::function<void()> on_loaded) {
  auto files = sources::FileSource::Create(Watched(config));
  if (!files) {
    return tl::unexpected(files.error());
  }
  return std::unique_ptr<EnvoyConfigLoader>(
      new EnvoyConfigLoader(loop, service, config, std::move(on_loaded), *std::move(files)));
}

void EnvoyConfigLoader::LoadFirst() {
  Load(ReloadCause::kStart);
  auto follower = FileFollower::Create(loop_, files_, kEnvoySettle,
                                       [this] { Load(ReloadCause::kFilesChanged); });
  if (follower) {
    follower_ = *std::move(follower);
  } else {
    spdlog::error("cannot watch {} for changes: {}; send SIGHUP to reload it", config_.directory,
                  follower.error().Text());
  }
}

Result<std::vector<rules::SourceText>> EnvoyConfigLoader::Read() const {
  auto tree = ReadEnvoyTree(config_);
  if (!tree) {
    return tl::unexpected(tree.error());
  }
  for (const Error& skipped : tree->skipped) {
    spdlog::warn("{}", skipped.Text());
  }
  return std::move(tree->files);
}

void EnvoyConfigLoader::Load(ReloadCause cause) {
  const std::string_view why = NameOf(cause);
  auto files = Read();
  if (!files) {
    Fail(cause, {files.error()}, "unread " + files.error().Text());
    return;
  }
  std::string text = Joined(*files);
  if (text == running_text_) {
    failed_text_.clear();
    if (cause == ReloadCause::kOperator) {
      spdlog::info("SIGHUP: Envoy's limits reloaded, nothing changed");
    }
    return;
  }
  rules::Findings findings;
  auto configuration = envoy::Configuration::Read(*files, config_.reading, findings);
  if (configuration == nullptr) {
    Fail(cause, findings.errors, std::move(text));
    return;
  }
  const std::size_t limits = configuration->limits().size();
  const std::size_t domains = configuration->domain_count();
  service_.SetConfiguration(std::move(configuration));
  service_.metrics().CountLoad(true);
  running_text_ = std::move(text);
  failed_text_.clear();
  if (domains == 0) {
    spdlog::warn("{}: no domain is configured below {}: every request is allowed", why,
                 config_.directory);
  } else {
    spdlog::info("{}: loaded {} Envoy limit{} in {} domain{}", why, limits, limits == 1 ? "" : "s",
                 domains, domains == 1 ? "" : "s");
  }
  on_loaded_();
}

void EnvoyConfigLoader::Fail(ReloadCause cause, const std::vector<Error>& errors,
                             std::string text) {
  service_.metrics().CountLoad(false);
  const std::string_view running =
      running_text_.empty() ? "there is no other, so calls fail" : "the running one stays active";
  if (text == failed_text_) {  // All of its errors are in the log.
    if (cause == ReloadCause::kOperator) {
      spdlog::error("SIGHUP: the configuration of Envoy's domains is still invalid, {}: {}",
                    running, errors.front().Text());
    }
    return;
  }
  failed_text_ = std::move(text);
  std::string lines;
  for (const Error& error : errors) {
    lines += "\n" + error.Text();
  }
  spdlog::error("{}: the configuration of Envoy's domains is invalid, {}:{}", NameOf(cause),
                running, lines);
}

}  // namespace sluice::app
