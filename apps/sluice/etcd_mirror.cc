#include "etcd_mirror.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <spdlog/spdlog.h>

#include "files.h"
#include "net/event_loop.h"
#include "sources/api_rules.h"
#include "sources/durable_file.h"
#include "sources/etcd_copy.h"

namespace sluice::app {

EtcdMirror::EtcdMirror(net::EventLoop& loop, std::string prefix, std::string copy_file)
    : loop_(loop), prefix_(std::move(prefix)), copy_file_(std::move(copy_file)) {}

Result<std::unique_ptr<EtcdMirror>> EtcdMirror::Create(net::EventLoop& loop,
                                                       const EtcdConfig& config,
                                                       std::string copy_file,
                                                       std::function<void()> on_change) {
  auto settings = SettingsOf(config);
  if (!settings) {
    return tl::unexpected(settings.error());
  }
  std::unique_ptr<EtcdMirror> made(new EtcdMirror(loop, config.prefix, std::move(copy_file)));
  sources::EtcdSnapshot last;
  std::error_code error;
  if (!made->copy_file_.empty() && std::filesystem::exists(made->copy_file_, error)) {
    const auto text = ReadFile(made->copy_file_);
    auto read = text ? sources::ReadCopy(*text) : tl::make_unexpected(text.error());
    if (read) {
      last = *std::move(read);
    } else {
      spdlog::error("{}: {}: the file is ignored", made->copy_file_, read.error().Text());
    }
  }
  made->copied_ = last.documents;
  made->rules_ = std::make_unique<sources::EtcdRules>(
      loop, *std::move(settings), std::move(last),
      sources::EtcdRules::Events{
          .on_documents = std::move(on_change),
          .on_state = [mirror = made.get()](sources::EtcdRules::State state,
                                            std::string_view why) { mirror->OnState(state, why); },
      });
  return made;
}

void EtcdMirror::Start(Duration patience, const std::function<bool()>& is_over) {
  rules_->Start();
  bool waits = true;
  net::Timer late([&] { waits = false; });
  loop_.ArmAfter(late, patience, net::TimerPrecision::kExact);
  while (waits && !rules_->answered() && !is_over()) {
    loop_.RunOne();
  }
  if (!rules_->answered() && !is_over()) {
    spdlog::warn("etcd does not answer: starting with a copy of its last rules ({})",
                 copied_.size());
  }
}

std::string EtcdMirror::NameOf(std::string_view id) const {
  return "etcd:" + prefix_ + std::string(id);
}

std::vector<rules::SourceText> EtcdMirror::Sources(const sources::EtcdDocuments& documents,
                                                   rules::Findings& findings) const {
  std::vector<rules::SourceText> texts;
  texts.reserve(documents.size());
  for (const auto& [id, document] : documents) {
    rules::Findings own;
    if (!sources::IsRuleId(id)) {
      own.errors.push_back({.message =
                                "the key after the prefix must be a rule id: 1 to 64 of A-Z a-z "
                                "0-9 . _ -",
                            .place = {}});
    } else {
      texts.push_back({.name = NameOf(id), .text = sources::RuleDocument(id, document.text, own)});
    }
    for (Error& error : own.errors) {
      error.place.file = NameOf(id);
      findings.errors.push_back(std::move(error));
    }
  }
  return texts;
}

void EtcdMirror::KeepCopy() {
  if (copy_file_.empty()) {
    return;
  }
  if (const auto kept = sources::WriteDurably(copy_file_, sources::WriteCopy(rules_->snapshot()));
      !kept) {
    spdlog::error("cannot store a copy of etcd's rules: {}", kept.error().Text());
  }
}

void EtcdMirror::OnState(sources::EtcdRules::State state, std::string_view why) {
  using State = sources::EtcdRules::State;
  const bool followed = following_.exchange(state != State::kAway, std::memory_order_relaxed);
  switch (state) {
    case State::kFollowing:
      spdlog::info("following the rules in etcd at {}", why);
      return;
    case State::kAway:
      lost_connections_.fetch_add(followed ? 1U : 0U, std::memory_order_relaxed);
      spdlog::warn("lost connection to etcd, its rules stay active: {}", why);
      return;
    case State::kLost:
      spdlog::error("{}", why);
      return;
  }
}

void EtcdMirror::Write(telemetry::Exposition& out) const {
  using telemetry::Exposition;
  out.Family("sluice_etcd_up", "1 while this node follows the rules in etcd.",
             Exposition::Type::kGauge);
  out.Sample("sluice_etcd_up", {},
             std::uint64_t{following_.load(std::memory_order_relaxed) ? 1U : 0U});
  out.Family("sluice_etcd_losses_total", "Lost connections to etcd.", Exposition::Type::kCounter);
  out.Sample("sluice_etcd_losses_total", {}, lost_connections_.load(std::memory_order_relaxed));
}

}  // namespace sluice::app
