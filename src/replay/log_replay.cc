#include "replay/log_replay.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/calendar.h"
#include "replay/answer_line.h"
#include "replay/human_text.h"

namespace sluice::replay {

namespace {

// Requests of one time are decided together, up to so many.
constexpr std::size_t kBatch = 256;
constexpr std::uint64_t kProgressEvery = 4096;

constexpr std::array<int, 12> kRateBins{10, 25, 50, 75, 90, 100, 125, 150, 200, 400, 1000, 0};
constexpr std::array<double, 5> kQuantiles{0.5, 0.9, 0.99, 0.999, 1};

bool HasEntries(const core::Quota& quota) {
  return quota.algorithm == core::Algorithm::kSlidingWindow ||
         quota.algorithm == core::Algorithm::kSlidingWindowLog ||
         quota.algorithm == core::Algorithm::kConcurrency;
}

// Where an attribute is missing and the rule says deny, the request is nobody's.
bool HasKey(const service::RuleDecision& made) {
  return !made.parts.empty() || made.rule->key.empty();
}

KeyLine LineOf(const KeyRecord& record) {
  return {.key = std::string(record.text),
          .requests = record.requests,
          .denied = record.denied,
          .peak = record.window.peak(),
          .limit = record.limit,
          .first_denied = record.first_denied,
          .last_denied = record.last_denied};
}

// The `count` keys for which `value` is largest, 0 left out.
template <class Value>
std::vector<KeyLine> Top(const KeyLedger& ledger, std::size_t count, Value value) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    if (value(ledger[i]) != 0) {
      numbers.push_back(static_cast<std::uint32_t>(i));
    }
  }
  const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(std::min(count, numbers.size()));
  std::partial_sort(numbers.begin(), end, numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    const auto va = value(ledger[a]);
    const auto vb = value(ledger[b]);
    return va != vb ? va > vb : a < b;
  });
  std::vector<KeyLine> lines;
  std::for_each(numbers.begin(), end,
                [&](std::uint32_t number) { lines.push_back(LineOf(ledger[number])); });
  return lines;
}

std::vector<RateBin> RatesOf(const KeyLedger& ledger) {
  std::vector<RateBin> bins;
  for (const int percent : kRateBins) {
    bins.push_back({.up_to_percent = percent});
  }
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    const KeyRecord& record = ledger[i];
    const double percent = record.limit == 0 ? 1e9
                                             : 100.0 * static_cast<double>(record.window.peak()) /
                                                   static_cast<double>(record.limit);
    const auto bin = std::ranges::find_if(bins, [percent](const RateBin& candidate) {
      return candidate.up_to_percent == 0 || percent <= candidate.up_to_percent;
    });
    ++bin->keys;
  }
  return bins;
}

std::vector<RuleReport::Quantile> QuantilesOf(const KeyLedger& ledger) {
  std::vector<Units> peaks;
  peaks.reserve(ledger.size());
  for (std::size_t i = 0; i < ledger.size(); ++i) {
    peaks.push_back(ledger[i].window.peak());
  }
  std::ranges::sort(peaks);
  std::vector<RuleReport::Quantile> quantiles;
  for (const double share : kQuantiles) {
    if (!peaks.empty()) {
      const auto at = static_cast<std::size_t>(share * static_cast<double>(peaks.size() - 1));
      quantiles.push_back({.share = share, .peak = peaks[at]});
    }
  }
  return quantiles;
}

}  // namespace

// One request under way. Its attributes view the log's own memory.
class LogReplay::Call final : public service::DecideCall {
 public:
  // Counted after the batch: its rules stay until the replay ends.
  void OnVerdict() noexcept override {}

  std::vector<Attribute> room;
  std::vector<std::uint64_t> hashes;  // A decision's key in its rule's ledger; 0 without a key.
  WallInstant at;
  logs::LogStream* stream = nullptr;
  std::uint64_t line = 0;
};

struct LogReplay::RuleCount {
  const rules::Rule* rule = nullptr;
  bool has_peaks = false;
  std::uint64_t requests = 0;
  std::uint64_t denied = 0;
  std::uint64_t delayed = 0;
  Duration longest_wait{};
  KeyLedger keys;
  Timeline timeline;
  std::unique_ptr<Comparison> comparison;
};

LogReplay::LogReplay(const LogReplayOptions& options, std::shared_ptr<const rules::RuleSet> rules,
                     const logs::AttributePlan& plan)
    : options_(options), rules_(std::move(rules)), plan_(plan) {
  counts_ = std::vector<RuleCount>(rules_->rules().size());
  for (const rules::Rule& rule : rules_->rules()) {
    RuleCount& count = counts_[rule.number];
    count.rule = &rule;
    count.has_peaks =
        !rule.quota.unlimited && rule.quota.algorithm != core::Algorithm::kConcurrency;
    if (options_.compare && Comparison::IsComparable(rule.quota)) {
      count.comparison = std::make_unique<Comparison>(rule.quota);
    }
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
  while (logs::LogStream* stream = logs.Next()) {
    const logs::LogStream::Request& request = *stream->Peek();
    if (table_ == nullptr) {
      if (Result<void> opened = OpenTable(request.at); !opened) {
        return opened;
      }
      at = request.at;
    }
    if (request.at != at || batch_.size() == kBatch) {
      Flush();
      at = request.at;
    }
    if (batch_.empty()) {
      clock_.MoveTo(at);
    }
    batch_.push_back(&Prepare(*stream, request));
    stream->Pop();
    if (--until_progress == 0) {
      until_progress = kProgressEvery;
      progress();
    }
  }
  Flush();
  last_ = at;
  progress();
  return {};
}

LogReplay::Call& LogReplay::Prepare(logs::LogStream& stream,
                                    const logs::LogStream::Request& request) {
  Call& call = *calls_[batch_.size()];
  call.at = request.at;
  call.stream = &stream;
  call.line = request.line;
  call.cost = Cost{request.cost};
  call.room.clear();
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    if (const std::string_view value = request.Value(i); value.data() != nullptr) {
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
    call.hashes.push_back(HasKey(made) ? counts_[made.rule->number].keys.HashOf(made.parts) : 0);
  }
}

void LogReplay::ForEachKey(std::span<const std::unique_ptr<Call>> calls,
                           void (KeyLedger::*step)(std::uint64_t) const) const {
  for (const auto& call : calls) {
    for (std::size_t i = 0; i < call->hashes.size(); ++i) {
      (counts_[call->verdict.decisions[i].rule->number].keys.*step)(call->hashes[i]);
    }
  }
}

void LogReplay::Count(const Call& call) {
  const service::Verdict& verdict = call.verdict;
  if (!verdict.request_error.empty()) {
    call.stream->CountBad(call.line, verdict.request_error);
    return;
  }
  ++requests_;
  denied_ += verdict.allowed ? 0 : 1;
  unmatched_ += verdict.decisions.empty() ? 1 : 0;
  for (std::size_t i = 0; i < verdict.decisions.size(); ++i) {
    CountDecision(verdict.decisions[i], call.at, call.hashes[i]);
  }
  if (options_.decisions != nullptr) {
    AppendAnswer(*options_.decisions, call.at, verdict);
  }
}

void LogReplay::CountDecision(const service::RuleDecision& made, WallInstant at,
                              std::uint64_t key_hash) {
  RuleCount& count = counts_[made.rule->number];
  const bool allowed = made.decision.allowed;
  ++count.requests;
  count.denied += allowed ? 0 : 1;
  count.timeline.Add(at, allowed);
  if (allowed && made.decision.wait > Duration{}) {
    ++count.delayed;
    count.longest_wait = std::max(count.longest_wait, made.decision.wait);
  }
  if (!HasKey(made)) {
    return;
  }
  const std::size_t number = count.keys.Find(made.parts, key_hash);
  KeyRecord& key = count.keys[number];
  ++key.requests;
  if (!allowed) {
    key.first_denied = key.denied == 0 ? at : key.first_denied;
    key.last_denied = at;
    ++key.denied;
  }
  if (count.has_peaks && !made.quota.unlimited) {
    key.limit = core::LimitPerWindow(made.quota);
    if (made.quota.calendar != nullptr) {
      key.window.AddInPeriod(made.quota.calendar->At(at).begin, made.cost.units);
    } else {
      key.window.Add(at, made.cost.units, made.quota.window);
    }
  }
  if (count.comparison != nullptr && Comparison::IsComparable(made.quota)) {
    count.comparison->Judge(number, made.quota, at, made.cost);
  }
}

RuleReport LogReplay::ReportOf(const RuleCount& count) const {
  const rules::Rule& rule = *count.rule;
  RuleReport report{.id = rule.id,
                    .key_pattern = rule.key_pattern,
                    .algorithm = std::string(core::NameOf(rule.quota.algorithm)),
                    .quota = QuotaText(rule.quota),
                    .mode = rule.mode,
                    .requests = count.requests,
                    .denied = count.denied,
                    .skipped = metrics_.Count(rule.id, service::Outcome::kSkipped),
                    .delayed = count.delayed,
                    .longest_wait = count.longest_wait,
                    .keys = count.keys.size(),
                    .timeline = count.timeline,
                    .has_peaks = count.has_peaks};
  if (rule.quota.calendar != nullptr) {
    const std::string_view shape = rule.quota.calendar->shape();
    report.window = shape.substr(0, shape.find(' '));
  } else if (count.has_peaks) {
    report.window = WindowText(rule.quota.window);
  }
  for (std::size_t i = 0; i < count.keys.size(); ++i) {
    report.keys_denied += count.keys[i].denied != 0 ? 1 : 0;
  }
  report.most_denied =
      Top(count.keys, options_.top, [](const KeyRecord& record) { return record.denied; });
  report.busiest =
      Top(count.keys, options_.top, [](const KeyRecord& record) { return record.requests; });
  if (count.has_peaks) {
    report.rates = RatesOf(count.keys);
    report.quantiles = QuantilesOf(count.keys);
  }
  if (count.comparison != nullptr) {
    report.comparison = count.comparison->rows();
  }
  return report;
}

ReplayReport LogReplay::Report(const logs::LogMerge& logs) const {
  ReplayReport report{.requests = requests_,
                      .denied = denied_,
                      .unmatched = unmatched_,
                      .first = first_,
                      .last = last_};
  for (const auto& stream : logs.streams()) {
    report.logs.push_back(stream->Summary());
    report.bad_lines.insert(report.bad_lines.end(), stream->bad_lines().begin(),
                            stream->bad_lines().end());
  }
  for (const RuleCount& count : counts_) {
    if (count.rule->mode != rules::Mode::kOff) {
      report.rules.push_back(ReportOf(count));
    }
  }
  report.warnings = Warnings(report);
  return report;
}

std::vector<std::string> LogReplay::Warnings(const ReplayReport& report) const {
  std::vector<std::string> warnings;
  for (const logs::LogSummary& log : report.logs) {
    if (log.cut_off) {
      warnings.push_back(log.cut_off->Text());
    }
    if (log.late != 0) {
      warnings.push_back(log.name + ": " + Grouped(log.late) + " requests came up to " +
                         SpanText(log.latest) +
                         " late and were counted later than they happened; raise --reorder, or "
                         "sort the log");
    }
  }
  for (const RuleReport& rule : report.rules) {
    if (rule.requests == 0 && rule.skipped != 0) {
      warnings.push_back("rule " + rule.id + ": no request has the attributes of its key (" +
                         rule.key_pattern + "); give them a column with --map NAME=COLUMN");
    } else if (rule.skipped > rule.requests) {
      warnings.push_back("rule " + rule.id + ": most requests lack the attributes of its key (" +
                         rule.key_pattern +
                         "); a log of host names has them as {client}, for {ip} is for addresses");
    } else if (rule.requests == 0) {
      warnings.push_back("rule " + rule.id + ": it applied to no request");
    }
    if (rule.algorithm == core::NameOf(core::Algorithm::kConcurrency)) {
      warnings.push_back("rule " + rule.id +
                         ": logs do not say when a request was over, so each is taken to hold its "
                         "place for the whole hold_ttl");
    }
  }
  if (table_ != nullptr) {
    const store::TableStats stats = table_->Stats();
    if (const auto lost = stats.evictions + stats.block_evictions; lost != 0) {
      warnings.push_back("the table was too small: " + Grouped(lost) +
                         " keys were forgotten before their time, so the counts are not exact; "
                         "raise --keys");
    }
  }
  return warnings;
}

}  // namespace sluice::replay
