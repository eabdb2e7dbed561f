#include "control/mode_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/log_event.h"
#include "rules/value_reader.h"
#include "sources/files.h"
#include "wire/json_writer.h"
#include "yaml/tree.h"

namespace sluice::control {

namespace {

// An editor's steps: see sources::FileFollower.
constexpr std::chrono::milliseconds kModeSettle{50};
constexpr std::array<std::string_view, 3> kModes{"enforce", "shadow", "off"};
constexpr std::array<std::string_view, 2> kTruths{"false", "true"};

std::string TextOf(const rules::ModeOverrides& modes) {
  std::vector<std::pair<std::string, rules::Mode>> sorted(modes.by_rule.begin(),
                                                          modes.by_rule.end());
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  wire::JsonWriter json(text);
  json.BeginObject();
  json.Name("kill_switch").Truth(modes.all.has_value());
  json.Name("modes").BeginObject();
  for (const auto& [rule, mode] : sorted) {
    json.EscapedName(rule).Text(rules::NameOf(mode));
  }
  json.EndObject().EndObject();
  return text + '\n';
}

rules::ModeOverrides Read(const yaml::Node& root, rules::Reporter& report) {
  rules::ModeOverrides modes;
  if (!root.is_map()) {
    report.Fail(root, R"(the file is not a map: write {"kill_switch": false, "modes": {}})");
    return modes;
  }
  for (std::size_t i = 0; i < root.pair_count(); ++i) {
    const yaml::Node& value = root.value(i);
    if (root.key(i).text == "kill_switch") {
      if (rules::ReadWord(value, "kill_switch", kTruths, report).value_or(0) == 1) {
        modes.all = rules::Mode::kOff;
      }
    } else if (root.key(i).text == "modes" && value.is_map()) {
      for (std::size_t m = 0; m < value.pair_count(); ++m) {
        if (const auto mode = rules::ReadWord(value.value(m), "mode", kModes, report)) {
          modes.by_rule.insert_or_assign(value.key(m).text, static_cast<rules::Mode>(*mode));
        }
      }
    } else {
      report.Fail(root.key(i), "unknown member: only kill_switch and modes (a map) are allowed");
    }
  }
  return modes;
}

}  // namespace

Result<std::unique_ptr<ModeFile>> ModeFile::Create(net::EventLoop& loop,
                                                   service::LimiterService& service,
                                                   std::string file) {
  std::unique_ptr<ModeFile> made(new ModeFile(service, std::move(file)));
  if (auto loaded = made->Load(); !loaded) {
    return tl::unexpected(loaded.error());
  }
  if (auto followed = made->Follow(loop); !followed) {
    return tl::unexpected(followed.error());
  }
  return made;
}

Result<void> ModeFile::Load() {
  std::error_code error;
  rules::ModeOverrides read;
  if (!file_.empty() && (std::filesystem::exists(file_, error) || error)) {
    const auto text = sources::ReadFile(file_);
    if (!text) {
      return tl::unexpected(text.error());
    }
    rules::Findings findings;
    const yaml::Tree tree(*text, file_, findings.errors);
    rules::Reporter report(file_, findings);
    if (findings.errors.empty()) {
      read = Read(tree.root(), report);
    }
    if (!findings.errors.empty()) {
      return tl::unexpected(findings.errors.front());
    }
  }
  if (read.all != modes_.all || read.by_rule != modes_.by_rule) {
    LogEvent(read.all ? spdlog::level::warn : spdlog::level::info, "modes_loaded",
             fmt::format("{}: {}{} modes are set", file_,
                         read.all ? "the kill switch is on, every request is allowed; " : "",
                         read.by_rule.size()),
             {{"file", file_},
              {"modes", read.by_rule.size()},
              {"kill_switch", read.all ? std::string_view("on") : "off"}});
    PutInForce(std::move(read));
  }
  return {};
}

Result<void> ModeFile::Follow(net::EventLoop& loop) {
  if (file_.empty()) {
    return {};
  }
  auto watched = sources::FileSource::Create({file_});
  if (!watched) {
    return tl::unexpected(watched.error());
  }
  watched_.emplace(*std::move(watched));
  auto follower = sources::FileFollower::Create(loop, *watched_, kModeSettle, [this] {
    if (const auto loaded = Load(); !loaded) {
      const std::string why = loaded.error().Text();
      LogEvent(spdlog::level::err, "modes_unreadable",
               "the modes cannot be read and stay unchanged: " + why,
               {{"file", file_}, {"reason", why}});
    }
  });
  if (!follower) {
    return tl::unexpected(follower.error());
  }
  follower_ = *std::move(follower);
  return {};
}

ChangeResult<void> ModeFile::SetMode(std::string_view rule, std::optional<rules::Mode> mode) {
  rules::ModeOverrides next = modes_;
  if (mode) {
    next.by_rule.insert_or_assign(std::string(rule), *mode);
  } else if (next.by_rule.erase(std::string(rule)) == 0) {
    return {};
  }
  auto set = Set(std::move(next));
  if (set) {
    const std::string_view now = mode ? rules::NameOf(*mode) : "as written in the rule";
    LogEvent(spdlog::level::info, "mode_set", fmt::format("mode of rule {}: {}", rule, now),
             {{"rule", rule}, {"mode", now}});
  }
  return set;
}

ChangeResult<void> ModeFile::SetKillSwitch(bool on) {
  rules::ModeOverrides next = modes_;
  next.all = on ? std::optional(rules::Mode::kOff) : std::nullopt;
  auto set = Set(std::move(next));
  if (set) {
    LogEvent(spdlog::level::warn, "kill_switch_set",
             on ? "kill switch on: every request is allowed, nothing is counted"
                : "kill switch off: the rules are active",
             {{"kill_switch", on ? std::string_view("on") : "off"}});
  }
  return set;
}

ChangeResult<void> ModeFile::Set(rules::ModeOverrides modes) {
  if (!file_.empty()) {
    if (auto kept = sources::WriteDurably(file_, TextOf(modes)); !kept) {
      return Refused(ErrorCode::kNotStored, kept.error().Text());
    }
  }
  PutInForce(std::move(modes));
  return {};
}

void ModeFile::PutInForce(rules::ModeOverrides modes) {
  modes_ = std::move(modes);
  service_.SetModes(modes_);
}

void ModeFile::Write(telemetry::Exposition& out) const {
  using telemetry::Exposition;
  using telemetry::Label;
  const rules::ModeOverrides modes = service_.Modes();
  out.Family("sluice_kill_switch", "1 while the kill switch is on.", Exposition::Type::kGauge);
  out.Sample("sluice_kill_switch", {}, std::uint64_t{modes.all ? 1U : 0U});
  out.Family("sluice_rule_mode", "1 for a rule's current mode.", Exposition::Type::kGauge);
  if (const auto set = service_.Rules(); set != nullptr) {
    for (const rules::Rule& rule : set->rules()) {
      const std::array labels{Label{.name = "rule", .value = rule.id},
                              Label{.name = "mode", .value = rules::NameOf(modes.Effective(rule))}};
      out.Sample("sluice_rule_mode", labels, std::uint64_t{1});
    }
  }
}

}  // namespace sluice::control
