#include "replay/log_replay.h"

#include <algorithm>
#include <utility>

#include "replay/events.h"
#include "replay/replay_report.h"

namespace sluice::replay {

namespace {

// Requests with the same time are decided together, up to this many.
constexpr std::size_t kBatch = 256;
constexpr std::uint64_t kProgressEvery = 4096;

}  // namespace

// One request in flight. Its attributes are views of the log's memory. It is counted after the
// batch: its rules stay until the replay ends.
struct LogReplay::Asked {
  [[nodiscard]] const service::Verdict& verdict() const { return check.verdict; }

  service::NoCompletion none;
  service::Operation operation{none};
  service::RuleCheck& check = operation.Ask<service::RuleCheck>();
  std::vector<std::uint64_t>
      hashes;  // The hash of a decision's key in its rule's ledger; 0 without a key.
  RequestFeed::Request request;
};

LogReplay::LogReplay(const LogReplayOptions& options, std::shared_ptr<const rules::RuleSet> rules,
                     const logs::AttributePlan& plan)
    : options_(options), rules_(std::move(rules)), plan_(plan) {
  counts_.reserve(rules_->rules().size());
  for (const rules::Rule& rule : rules_->rules()) {
    counts_.emplace_back(rule, options_.compare,
                         options_.profile);  // In the order of Rule::number.
  }
  for (std::size_t i = 0; i < kBatch; ++i) {
    asked_.push_back(std::make_unique<Asked>());
  }
  batch_.reserve(kBatch);
}

LogReplay::~LogReplay() = default;

Result<void> LogReplay::OpenTable(WallInstant first) {
  clock_.SetTo({.boot = {}, .wall_clock = first});
  // Entries are stored in blocks: if rules need them, there is one more block than slots.
  const bool entries = std::ranges::any_of(rules_->rules(), [](const rules::Rule& rule) {
    return core::TraitsOf(rule.quota.algorithm).has_items();
  });
  auto table = store::Table::Create(
      {.path = {}, .keys = options_.keys, .blocks = entries ? 2 * options_.keys : 1}, clock_);
  if (!table) {
    return tl::unexpected(std::move(table.error()));
  }
  table_ = std::move(*table);
  service_ = std::make_unique<service::LimiterService>(*table_, metrics_);
  service_->SetRules(rules_);
  first_ = first;
  return {};
}

Result<void> LogReplay::Run(logs::LogMerge& logs, const std::function<void()>& progress) {
  WallInstant at{};
  std::uint64_t until_progress = kProgressEvery;
  RequestFeed feed(logs, plan_, options_.spread ? SpreadFor(*rules_, plan_) : std::nullopt);
  while (const RequestFeed::Request* const request = feed.Next()) {
    if (table_ == nullptr) {
      if (Result<void> opened = OpenTable(request->at); !opened) {
        return opened;
      }
      at = request->at;
    }
    if (request->at != at || batch_.size() == kBatch) {
      Flush();
      at = request->at;
    }
    if (batch_.empty()) {
      clock_.MoveTo(at);
    }
    batch_.push_back(&Prepare(*request).operation);
    if (--until_progress == 0) {
      until_progress = kProgressEvery;
      progress();
    }
  }
  Flush();
  last_ = at;
  has_spread_ = feed.has_spread();
  progress();
  return {};
}

LogReplay::Asked& LogReplay::Prepare(const RequestFeed::Request& request) {
  Asked& asked = *asked_[batch_.size()];
  asked.request = request;
  asked.operation.Clear();
  std::vector<Attribute>& attributes = asked.operation.attributes;
  const std::size_t count = plan_.size() - (options_.profile ? kProfileAttributes.size() : 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (const std::string_view value = request.logged.Value(i); value.data() != nullptr) {
      attributes.push_back({.name = plan_.name(i), .value = value});
    }
  }
  asked.check.attributes = attributes;
  asked.check.cost = Cost{request.logged.cost};
  return asked;
}

void LogReplay::Flush() {
  if (batch_.empty()) {
    return;
  }
  service_->Submit(batch_);
  const std::span batch(asked_.data(), batch_.size());
  for (const auto& asked : batch) {
    HashKeys(*asked);
  }
  ForEachKey(batch, &KeyLedger::PrefetchPlace);
  ForEachKey(batch, &KeyLedger::PrefetchRecord);
  ForEachKey(batch, &KeyLedger::PrefetchText);
  for (const auto& asked : batch) {
    Count(*asked);
  }
  batch_.clear();
}

void LogReplay::HashKeys(Asked& asked) {
  asked.hashes.clear();
  for (const service::RuleDecision& made : asked.verdict().decisions) {
    asked.hashes.push_back(counts_[made.rule->number].HashOf(made));
  }
}

void LogReplay::ForEachKey(std::span<const std::unique_ptr<Asked>> batch,
                           void (KeyLedger::*step)(std::uint64_t) const) const {
  for (const auto& asked : batch) {
    for (std::size_t i = 0; i < asked->hashes.size(); ++i) {
      (counts_[asked->verdict().decisions[i].rule->number].keys().*step)(asked->hashes[i]);
    }
  }
}

void LogReplay::Count(const Asked& asked) {
  const service::Verdict& verdict = asked.verdict();
  const RequestFeed::Request& from = asked.request;
  if (!verdict.request_error.empty()) {
    from.stream->CountBad(from.logged.line, verdict.request_error);
    return;
  }
  ++requests_;
  denied_ += verdict.allowed ? 0 : 1;
  unmatched_ += verdict.decisions.empty() ? 1 : 0;
  RuleCount::Request request{.at = from.at, .allowed = verdict.allowed};
  if (options_.profile) {
    const std::size_t first = plan_.size() - kProfileAttributes.size();
    request.status = from.logged.Value(first);
    request.endpoint = from.logged.Value(first + 1);
    request.user_agent = from.logged.Value(first + 2);
  }
  for (std::size_t i = 0; i < verdict.decisions.size(); ++i) {
    const service::RuleDecision& made = verdict.decisions[i];
    counts_[made.rule->number].Count(made, request, asked.hashes[i]);
  }
  if (options_.decisions != nullptr) {
    AppendAnswer(*options_.decisions, from.at, verdict);
  }
}

ReplayReport LogReplay::Report(const logs::LogMerge& logs) const {
  ReplayReport report{.requests = requests_,
                      .denied = denied_,
                      .unmatched = unmatched_,
                      .first = first_,
                      .last = last_,
                      .today = options_.today,
                      .spread = has_spread_};
  for (const auto& stream : logs.streams()) {
    report.logs.push_back(stream->Summary());
    report.bad_lines.insert(report.bad_lines.end(), stream->bad_lines().begin(),
                            stream->bad_lines().end());
  }
  for (const RuleCount& count : counts_) {
    const rules::Rule& rule = count.rule();
    if (rule.mode != rules::Mode::kOff) {
      report.rules.push_back(
          count.Report(options_.top, metrics_.Count(rule.id, service::Outcome::kSkipped)));
    }
  }
  report.warnings = WarningsOf(report, table_ == nullptr ? store::TableStats{} : table_->Stats());
  return report;
}

}  // namespace sluice::replay
