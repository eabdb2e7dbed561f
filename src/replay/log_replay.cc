#include "replay/log_replay.h"

#include <algorithm>
#include <utility>

#include "replay/answer_line.h"
#include "replay/replay_warnings.h"

namespace sluice::replay {

namespace {

// Requests of one time are decided together, up to so many.
constexpr std::size_t kBatch = 256;
constexpr std::uint64_t kProgressEvery = 4096;

bool HasEntries(const core::Quota& quota) {
  return quota.algorithm == core::Algorithm::kSlidingWindow ||
         quota.algorithm == core::Algorithm::kSlidingWindowLog ||
         quota.algorithm == core::Algorithm::kConcurrency;
}

}  // namespace

// One request under way. Its attributes view the log's own memory.
class LogReplay::Call final : public service::DecideCall {
 public:
  // Counted after the batch: its rules stay until the replay ends.
  void OnVerdict() noexcept override {}

  std::vector<Attribute> room;
  std::vector<std::uint64_t> hashes;  // A decision's key in its rule's ledger; 0 without a key.
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
    calls_.push_back(std::make_unique<Call>());
  }
  batch_.reserve(kBatch);
}

LogReplay::~LogReplay() = default;

Result<void> LogReplay::OpenTable(WallInstant first) {
  clock_.SetTo({.boot = {}, .wall = first});
  // Entries are kept in blocks: room for one block more than a slot each, where rules need any.
  const bool entries = std::ranges::any_of(
      rules_->rules(), [](const rules::Rule& rule) { return HasEntries(rule.quota); });
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
    batch_.push_back(&Prepare(*request));
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

LogReplay::Call& LogReplay::Prepare(const RequestFeed::Request& request) {
  Call& call = *calls_[batch_.size()];
  call.request = request;
  call.cost = Cost{request.logged.cost};
  call.room.clear();
  const std::size_t count = plan_.size() - (options_.profile ? kProfileAttributes.size() : 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (const std::string_view value = request.logged.Value(i); value.data() != nullptr) {
      call.room.push_back({.name = plan_.name(i), .value = value});
    }
  }
  call.attributes = call.room;
  return call;
}

void LogReplay::Flush() {
  if (batch_.empty()) {
    return;
  }
  service_->Decide(batch_);
  const std::span calls(calls_.data(), batch_.size());
  for (const auto& call : calls) {
    HashKeys(*call);
  }
  ForEachKey(calls, &KeyLedger::PrefetchPlace);
  ForEachKey(calls, &KeyLedger::PrefetchRecord);
  ForEachKey(calls, &KeyLedger::PrefetchText);
  for (const auto& call : calls) {
    Count(*call);
  }
  batch_.clear();
}

void LogReplay::HashKeys(Call& call) {
  call.hashes.clear();
  for (const service::RuleDecision& made : call.verdict.decisions) {
    call.hashes.push_back(counts_[made.rule->number].HashOf(made));
  }
}

void LogReplay::ForEachKey(std::span<const std::unique_ptr<Call>> calls,
                           void (KeyLedger::*step)(std::uint64_t) const) const {
  for (const auto& call : calls) {
    for (std::size_t i = 0; i < call->hashes.size(); ++i) {
      (counts_[call->verdict.decisions[i].rule->number].keys().*step)(call->hashes[i]);
    }
  }
}

void LogReplay::Count(const Call& call) {
  const service::Verdict& verdict = call.verdict;
  if (!verdict.request_error.empty()) {
    call.request.stream->CountBad(call.request.logged.line, verdict.request_error);
    return;
  }
  ++requests_;
  denied_ += verdict.allowed ? 0 : 1;
  unmatched_ += verdict.decisions.empty() ? 1 : 0;
  RuleCount::Request request{.at = call.request.at, .allowed = verdict.allowed};
  if (options_.profile) {
    const std::size_t first = plan_.size() - kProfileAttributes.size();
    request.status = call.request.logged.Value(first);
    request.endpoint = call.request.logged.Value(first + 1);
    request.user_agent = call.request.logged.Value(first + 2);
  }
  for (std::size_t i = 0; i < verdict.decisions.size(); ++i) {
    const service::RuleDecision& made = verdict.decisions[i];
    counts_[made.rule->number].Count(made, request, call.hashes[i]);
  }
  if (options_.decisions != nullptr) {
    AppendAnswer(*options_.decisions, call.request.at, verdict);
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
