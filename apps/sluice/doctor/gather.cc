#include "doctor/gather.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "credentials.h"
#include "net/http_client.h"
#include "net/listener.h"
#include "rule_files.h"
#include "rule_review.h"
#include "sources/files.h"

namespace sluice::app::doctor {

namespace {

WallInstant WallNow() {
  return WallInstant(
      std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch()));
}

std::vector<CertificateFact> CertificatesOf(const DaemonConfig& config) {
  std::vector<CertificateFact> certificates;
  const auto add = [&](std::string of, const std::string& file, const auto& loaded) {
    if (loaded && (*loaded)->not_after()) {
      certificates.push_back(
          {.of = std::move(of), .file = file, .not_after = *(*loaded)->not_after()});
    }
  };
  for (const ListenerConfig& listener : config.listeners) {
    if (listener.tls) {
      add("listener " + listener.address, listener.tls->cert, LoadTls(*listener.tls));
    }
  }
  if (config.redis && config.redis->tls) {
    add("this node for Redis", config.redis->tls->cert, LoadClientTls(*config.redis->tls));
  }
  return certificates;
}

Result<ConfigurationFacts> ReadConfiguration(const std::string& file) {
  const auto text = sources::ReadFile(file);
  if (!text) {
    return tl::unexpected(text.error());
  }
  ConfigurationFacts facts;
  facts.file = file;
  rules::Findings repeated;  // ReadRuleFiles() finds the same.
  facts.config = ReadDaemonConfig(*text, file, repeated);
  facts.rules = ReadRuleFiles({file}, facts.validation);
  if (facts.rules != nullptr) {
    ReviewForProxies(facts.config.listeners, *facts.rules, facts.validation);
    HintAtRules(facts.config.listeners, *facts.rules, facts.validation);
  }
  facts.certificates = CertificatesOf(facts.config);
  facts.table = FilesOf(facts.config);
  return facts;
}

std::string CountText(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void GatherConfiguration(const std::string& file, Gathered& gathered) {
  if (file.empty()) {
    gathered.skipped.push_back({.what = "a configuration", .found = "--config FILE names one"});
    return;
  }
  const std::string what = "the configuration " + file;
  auto read = ReadConfiguration(file);
  if (!read) {
    gathered.failed.push_back({.what = what, .found = read.error().Text()});
    return;
  }
  gathered.looked_at.push_back({.what = what,
                                .found = read->rules == nullptr
                                             ? "it does not load"
                                             : CountText(read->rules->rules().size(), "rule")});
  gathered.facts.configuration = *std::move(read);
}

// The first admin listener that can be asked; nullptr if there is none.
const ListenerConfig* AdminListener(const Facts& facts) {
  if (!facts.configuration) {
    return nullptr;
  }
  const auto& listeners = facts.configuration->config.listeners;
  const auto found = std::ranges::find_if(listeners, [](const ListenerConfig& listener) {
    const auto endpoint = net::ParseAddress(listener.address);
    return listener.role == frontend::http::Role::kAdmin && !listener.tls && endpoint &&
           endpoint->port() != 0;
  });
  return found == listeners.end() ? nullptr : &*found;
}

// That admin listeners of the configuration ask for; "" if none does.
std::string TokenIn(const Facts& facts) {
  std::string token;
  for (const ListenerConfig& listener : facts.configuration ? facts.configuration->config.listeners
                                                            : std::vector<ListenerConfig>()) {
    token = token.empty() && listener.role == frontend::http::Role::kAdmin ? listener.token : token;
  }
  return token;
}

std::string UrlOf(const ListenerConfig& listener) {
  auto endpoint = *net::ParseAddress(listener.address);
  if (endpoint.address().is_unspecified()) {
    endpoint.address(boost::asio::ip::address_v4::loopback());
  }
  return "http://" + net::AddressText(endpoint);
}

void GatherDaemon(const Sources& sources, Gathered& gathered) {
  const ListenerConfig* const listener = AdminListener(gathered.facts);
  std::string server = sources.server;
  if (server.empty() && listener != nullptr) {
    server = UrlOf(*listener);
  }
  if (sources.offline || server.empty()) {
    gathered.skipped.push_back(
        {.what = "a daemon",
         .found = sources.offline
                      ? "--offline"
                      : "the configuration has no admin listener without TLS on a fixed "
                        "port; --server URL names one"});
    return;
  }
  std::string token = TokenIn(gathered.facts);
  if (!sources.token_file.empty()) {
    auto loaded = LoadToken(sources.token_file);
    if (!loaded) {
      gathered.failed.push_back({.what = "the token", .found = loaded.error().Text()});
      return;
    }
    token = *std::move(loaded);
  }
  const DaemonFacts& daemon =
      gathered.facts.daemon.emplace(AskForFacts(server, token, gathered.facts.now));
  const std::string what = "the daemon at " + server;
  if (daemon.failure.empty()) {
    const double requests = daemon.recent.Sum("sluice_requests_total");
    gathered.looked_at.push_back(
        {.what = what,
         .found = fmt::format("{}, {:.0f} requests {}", CountText(daemon.rules.size(), "rule"),
                              requests, daemon.period)});
  } else {
    gathered.failed.push_back({.what = what, .found = daemon.failure});
  }
}

void GatherRedis(const Sources& sources, Gathered& gathered) {
  if (!gathered.facts.configuration || !gathered.facts.configuration->config.redis) {
    return;
  }
  const RedisConfig& config = *gathered.facts.configuration->config.redis;
  if (sources.offline || config.kind == RedisKind::kSentinel) {
    gathered.skipped.push_back(
        {.what = "Redis", .found = sources.offline ? "--offline" : "Sentinels name its primary"});
    return;
  }
  for (const net::DialTarget& target : config.servers) {
    RedisFacts& redis = gathered.facts.redis.emplace_back(AskRedis(config, target));
    redis.expects_cluster = config.kind == RedisKind::kCluster;
    const std::string what = "Redis at " + redis.server;
    if (!redis.failure.empty()) {
      gathered.failed.push_back({.what = what, .found = redis.failure});
      continue;
    }
    const auto version = redis.info.find("redis_version");
    gathered.looked_at.push_back(
        {.what = what,
         .found = "version " + (version == redis.info.end() ? "unknown" : version->second)});
  }
}

// Whether `url` is of this host.
bool IsHere(const std::string& url) {
  const auto parsed = net::ParseHttpUrl(url);
  return parsed &&
         (parsed->host == "localhost" || parsed->host == "::1" || parsed->host.starts_with("127."));
}

// A daemon elsewhere has another host.
void GatherHost(const Sources& sources, Gathered& gathered) {
  const auto& daemon = gathered.facts.daemon;
  if (sources.offline || (daemon && !IsHere(daemon->server))) {
    return;
  }
  gathered.facts.host =
      LookAtHost(gathered.facts.configuration ? &*gathered.facts.configuration : nullptr);
  gathered.looked_at.push_back({.what = "this host",
                                .found = gathered.facts.configuration
                                             ? "its clock, its ports and the folder of the table"
                                             : "its clock"});
}

void GatherNginx(const std::string& file, Gathered& gathered) {
  if (file.empty()) {
    return;
  }
  const auto text = sources::ReadFile(file);
  auto read = text ? ReadNginx(*text, file) : tl::unexpected(text.error());
  if (!read) {
    gathered.failed.push_back({.what = "NGINX's " + file, .found = read.error().Text()});
    return;
  }
  gathered.looked_at.push_back(
      {.what = "NGINX's " + file, .found = "its locations; files that it includes are not read"});
  gathered.facts.nginx = NginxFacts{.file = file, .directives = *std::move(read)};
}

}  // namespace

Gathered Gather(const Sources& sources) {
  Gathered gathered;
  gathered.facts.now = WallNow();
  GatherConfiguration(sources.configuration, gathered);
  GatherDaemon(sources, gathered);
  GatherRedis(sources, gathered);
  GatherHost(sources, gathered);
  GatherNginx(sources.nginx, gathered);
  return gathered;
}

}  // namespace sluice::app::doctor
