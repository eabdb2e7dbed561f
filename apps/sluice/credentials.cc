#include "credentials.h"

#include <array>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/chrono.h>

#include "base/fault.h"
#include "control/log_event.h"
#include "sources/files.h"

namespace sluice::app {

namespace {

using sources::ReloadCause;

// From the first sign of a change to reading the files: a certificate and its key are two files,
// and for a moment they do not fit.
constexpr std::chrono::milliseconds kSettle{200};
// A certificate that ends sooner is worth a warning whenever it is loaded.
constexpr std::chrono::hours kSoon{7 * 24};

Result<net::PemFile> ReadPem(const std::string& path) {
  auto text = sources::ReadFile(path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return net::PemFile{.path = path, .text = *std::move(text)};
}

// Never 0. What cannot be read is a text as well: the trouble is news once.
std::size_t HashOf(const std::vector<std::string>& files) {
  std::string all;
  for (const std::string& file : files) {
    const auto text = sources::ReadFile(file);
    all += text ? *text : text.error().message;
    all += '\0';
  }
  return std::hash<std::string>{}(all) | 1U;
}

void WarnOfEnd(const std::string& what, const net::TlsContext& context) {
  const auto not_after = context.not_after();
  if (!not_after) {
    return;
  }
  const auto now = std::chrono::system_clock::now();
  const auto end = std::chrono::system_clock::time_point(
      std::chrono::duration_cast<std::chrono::system_clock::duration>(
          not_after->time_since_epoch()));
  if (end < now) {
    control::LogEvent(spdlog::level::err, "certificate_expired",
                      fmt::format("the {} expired at {:%Y-%m-%d %H:%M} UTC: clients will refuse it",
                                  what, fmt::gmtime(end)),
                      {{"credential", what}});
  } else if (end - now < kSoon) {
    control::LogEvent(
        spdlog::level::warn, "certificate_expires",
        fmt::format("the {} expires at {:%Y-%m-%d %H:%M} UTC", what, fmt::gmtime(end)),
        {{"credential", what}});
  }
}

}  // namespace

Result<std::shared_ptr<const net::TlsContext>> LoadTls(const TlsConfig& tls,
                                                       const std::vector<std::string>& protocols) {
  auto certificate = ReadPem(tls.cert);
  if (!certificate) {
    return tl::unexpected(certificate.error());
  }
  auto key = ReadPem(tls.key);
  if (!key) {
    return tl::unexpected(key.error());
  }
  net::TlsServerSettings settings{
      .certificate = *std::move(certificate), .key = *std::move(key), .protocols = protocols};
  if (!tls.client_ca.empty()) {
    auto ca = ReadPem(tls.client_ca);
    if (!ca) {
      return tl::unexpected(ca.error());
    }
    settings.client_ca = *std::move(ca);
    settings.client_name = tls.client_name;
  }
  return net::TlsContext::Server(settings);
}

Result<std::string> LoadToken(const std::string& path) {
  auto text = sources::ReadFile(path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  text->erase(text->find_last_not_of(" \t\r\n") + 1);
  if (const std::string_view fault = FaultOfToken(*text); !fault.empty()) {
    return FileFault(path, std::string(fault));
  }
  return text;
}

std::string_view FaultOfToken(std::string_view secret) {
  if (secret.empty()) {
    return "the secret is empty, so every client could send it";
  }
  return secret.size() > frontend::kMostTokenBytes ? "the secret has more than 512 bytes" : "";
}

Result<std::unique_ptr<Credentials>> Credentials::Load(net::EventLoop& loop,
                                                       const DaemonConfig& config) {
  std::vector<std::string> paths;
  for (const ListenerConfig& listener : config.listeners) {
    if (!listener.token_file.empty()) {
      paths.push_back(listener.token_file);
    }
    if (listener.tls) {
      for (const std::string& path :
           {listener.tls->cert, listener.tls->key, listener.tls->client_ca}) {
        if (!path.empty()) {
          paths.push_back(path);
        }
      }
    }
  }
  auto files = sources::FileSource::Create(std::move(paths));
  if (!files) {
    return tl::unexpected(files.error());
  }
  std::unique_ptr<Credentials> made(new Credentials(*std::move(files)));
  for (const ListenerConfig& listener : config.listeners) {
    if (auto added = made->Add(listener); !added) {
      return tl::unexpected(added.error());
    }
  }
  auto follower = sources::FileFollower::Create(
      loop, made->files_, kSettle,
      [credentials = made.get()] { credentials->Reload(ReloadCause::kFilesChanged); });
  if (!follower) {
    return tl::unexpected(follower.error());
  }
  made->follower_ = *std::move(follower);
  return made;
}

Result<void> Credentials::Add(const ListenerConfig& config) {
  ListenerCredentials& listener = *listeners_.emplace_back(std::make_unique<ListenerCredentials>());
  addresses_.push_back(config.address);
  auto added = AddTls(config, listener);
  return added ? AddToken(config, listener) : added;
}

Result<void> Credentials::AddTls(const ListenerConfig& config, ListenerCredentials& listener) {
  if (!config.tls) {
    return {};
  }
  std::vector<std::string> protocols;
  if (config.protocol == Protocol::kHttp) {
    protocols = {"h2", "http/1.1"};
  } else if (config.protocol == Protocol::kGrpc) {
    protocols = {"h2"};  // Clients of gRPC insist on its being agreed upon.
  }
  Item item{.what = "certificate of " + config.address,
            .files = {config.tls->cert, config.tls->key},
            .load = {}};
  if (!config.tls->client_ca.empty()) {
    item.files.push_back(config.tls->client_ca);
  }
  item.load = [&listener, tls = *config.tls, protocols, what = item.what]() -> Result<void> {
    auto context = LoadTls(tls, protocols);
    if (!context) {
      return tl::unexpected(context.error());
    }
    WarnOfEnd(what, **context);
    if (listener.tls == nullptr) {
      listener.tls = std::make_unique<net::CurrentTlsContext>(*std::move(context));
    } else {
      listener.tls->Set(*std::move(context));
    }
    return {};
  };
  return AddItem(std::move(item));
}

Result<void> Credentials::AddToken(const ListenerConfig& config, ListenerCredentials& listener) {
  if (config.token.empty()) {
    return {};
  }
  listener.token = std::make_unique<frontend::AccessToken>(config.token);
  if (config.token_file.empty()) {
    return {};
  }
  return AddItem({.what = "token of " + config.address,
                  .files = {config.token_file},
                  .load = [&listener, path = config.token_file]() -> Result<void> {
                    const auto token = LoadToken(path);
                    if (!token) {
                      return tl::unexpected(token.error());
                    }
                    listener.token->Set(*token);
                    return {};
                  }});
}

Result<void> Credentials::AddItem(Item item) {
  item.in_use = HashOf(item.files);
  if (auto loaded = item.load(); !loaded) {
    return loaded;
  }
  items_.push_back(std::move(item));
  return {};
}

void Credentials::Reload(ReloadCause cause) {
  const std::string_view why = NameOf(cause);
  for (Item& item : items_) {
    const std::size_t texts = HashOf(item.files);
    if (texts == item.in_use) {
      item.failed = 0;
      continue;
    }
    if (const auto loaded = item.load(); loaded) {
      item.in_use = texts;
      item.failed = 0;
      reloaded_.fetch_add(1, std::memory_order_relaxed);
      control::LogEvent(spdlog::level::info, "credential_loaded",
                        fmt::format("{}: the new {} is in use", why, item.what),
                        {{"cause", why}, {"credential", item.what}});
      continue;
    } else if (texts != item.failed || cause == ReloadCause::kOperator) {
      control::LogEvent(
          spdlog::level::err, "credential_unreadable",
          fmt::format("{}: the new {} cannot be loaded, the current one stays in use: {}", why,
                      item.what, loaded.error().Text()),
          {{"cause", why}, {"credential", item.what}, {"reason", loaded.error().Text()}});
    }
    item.failed = texts;
    failed_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Credentials::Write(telemetry::Exposition& out) const {
  using telemetry::Exposition;
  using telemetry::Label;
  const auto count = [&](std::string_view family, std::string_view result, std::uint64_t value) {
    const std::array<Label, 1> labels{Label{"result", result}};
    out.Sample(family, labels, value);
  };
  constexpr std::string_view kReloads = "sluice_credential_reloads_total";
  out.Family(kReloads, "Reloads of certificates and tokens by result.", Exposition::Type::kCounter);
  count(kReloads, "ok", reloaded_.load(std::memory_order_relaxed));
  count(kReloads, "failed", failed_.load(std::memory_order_relaxed));
  constexpr std::string_view kHandshakes = "sluice_tls_handshakes_total";
  out.Family(kHandshakes, "TLS handshakes of clients by result.", Exposition::Type::kCounter);
  count(kHandshakes, "done", tls_counters_.done.load(std::memory_order_relaxed));
  count(kHandshakes, "failed", tls_counters_.failed.load(std::memory_order_relaxed));
  count(kHandshakes, "timed_out", tls_counters_.timed_out.load(std::memory_order_relaxed));
  constexpr std::string_view kEnd = "sluice_tls_certificate_expiry_timestamp_seconds";
  out.Family(kEnd, "Expiry time of a listener's certificate, in seconds since 1970.",
             Exposition::Type::kGauge);
  for (std::size_t i = 0; i < listeners_.size(); ++i) {
    if (listeners_[i]->tls == nullptr) {
      continue;
    }
    if (const auto end = listeners_[i]->tls->Get()->not_after()) {
      const std::array<Label, 1> labels{Label{"listener", addresses_[i]}};
      out.Sample(kEnd, labels,
                 static_cast<double>(end->time_since_epoch() / std::chrono::seconds(1)));
    }
  }
}

}  // namespace sluice::app
