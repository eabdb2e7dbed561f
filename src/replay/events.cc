#include "replay/events.h"

#include <cstddef>
#include <filesystem>
#include <istream>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fault.h"
#include "core/key.h"
#include "logs/format_detection.h"
#include "replay/event.h"
#include "service/limiter_service.h"
#include "service/service_metrics.h"
#include "service/verdict.h"
#include "store/key_store.h"
#include "store/table.h"

namespace sluice::replay {

namespace {

// A check or peek. Its answer becomes a line, and its holds are kept.
class CheckEvent final : public service::Completion {
 public:
  CheckEvent(std::string& out, std::vector<service::HoldChange::NamedHold>& holds)
      : out_(out), holds_(holds) {}

  service::Operation operation{*this};
  service::RuleCheck& check = operation.Ask<service::RuleCheck>();
  WallInstant at;

 private:
  void OnCompleted(service::Operation& /*operation*/) noexcept override {
    if (!check.verdict.request_error.empty()) {
      return;
    }
    AppendAnswer(out_, at, check.verdict);
    for (const service::RuleDecision& made : check.verdict.decisions) {
      if (made.hold != 0) {
        holds_.push_back(
            {.key = core::Key({.rule = made.rule->id, .formerly = {}, .parts = made.parts}),
             .hold = {.id = made.hold}});
      }
    }
  }

  std::string& out_;
  std::vector<service::HoldChange::NamedHold>& holds_;
};

// One run: the engine, its clock, and the results of earlier events. The table answers during each
// verb, so an event is complete when its verb returns.
class EventRun {
 public:
  EventRun(const EventsOptions& options, std::ostream& err)
      : options_(options), err_(err), check_(out_, holds_) {}

  bool Begin();
  void RunLine(std::string_view line);
  void WarnOfLosses() const;

  // Returns the output since the last call.
  [[nodiscard]] std::string TakeOutput() { return std::exchange(out_, {}); }

 private:
  // Each runs one event, or returns why it cannot; then nothing has changed.
  [[nodiscard]] Result<void> Run(const Event& event);
  [[nodiscard]] Result<void> Check(const Event& event);
  [[nodiscard]] Result<void> Operate(const Event& event);
  void Release(const Event& event);
  void Reload(const Event& event);
  [[nodiscard]] Result<void> OpenTable();
  // For a valid line that had no effect: goes to the error stream, so that the output has only
  // answers and bad lines.
  void Note(std::string_view text) { err_ << "line " << line_ << ": " << text << '\n'; }
  void PrintWarnings(const rules::Findings& findings);

  const EventsOptions& options_;
  std::ostream& err_;
  std::string out_;
  std::int64_t line_ = 0;
  EventReader reader_;
  EventClock clock_;
  std::shared_ptr<const rules::RuleSet> first_rules_;
  std::unique_ptr<store::Table> table_;  // From the first event on.
  service::ServiceMetrics metrics_{/*time_decisions=*/false};
  std::unique_ptr<service::LimiterService> service_;
  std::vector<service::HoldChange::NamedHold> holds_;  // The n-th hold granted is holds_[n - 1].
  CheckEvent check_;
};

bool EventRun::Begin() {
  rules::Findings findings;
  first_rules_ = LoadRuleFile(options_.rules_file, nullptr, findings);
  for (const Error& error : findings.errors) {
    err_ << error.Text() << '\n';
  }
  PrintWarnings(findings);
  return first_rules_ != nullptr;
}

void EventRun::RunLine(std::string_view line) {
  ++line_;
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
    return;
  }
  if (Result<void> read = reader_.Read(line); !read) {
    AppendBadLine(out_, line_, read.error().message);
    return;
  }
  const base::ClockReading before = clock_.Read();
  if (table_ == nullptr) {
    clock_.SetTo({.boot = {}, .wall_clock = reader_.event().at});
  } else {
    clock_.MoveTo(reader_.event().at);
  }
  if (Result<void> run = Run(reader_.event()); !run) {
    AppendBadLine(out_, line_, run.error().Text());
    clock_.SetTo(before);
  }
}

Result<void> EventRun::Run(const Event& event) {
  const bool first = table_ == nullptr;
  if (first) {
    if (Result<void> opened = OpenTable(); !opened) {
      return opened;
    }
  }
  Result<void> run;
  switch (event.op) {
    case Op::kCheck:
    case Op::kPeek:
      run = Check(event);
      break;
    case Op::kReset:
    case Op::kRefund:
      run = Operate(event);
      break;
    case Op::kRelease:
      Release(event);
      break;
    case Op::kSweep:
      table_->Sweep();
      break;
    case Op::kRules:
      Reload(event);
      break;
  }
  if (first && !run) {  // The clock starts at the first valid event.
    service_.reset();
    table_.reset();
  }
  return run;
}

Result<void> EventRun::Check(const Event& event) {
  check_.at = event.at;
  service::RuleCheck& check = check_.check;
  check.attributes = event.attributes;
  check.cost = event.cost;
  check.peek = event.op == Op::kPeek;
  service_->Submit(check_.operation);
  if (!check.verdict.request_error.empty()) {
    return Fault(std::move(check.verdict.request_error));
  }
  return {};
}

Result<void> EventRun::Operate(const Event& event) {
  service::NoCompletion none;
  service::Operation operation(none);
  auto& change = operation.Ask<service::KeyChange>();
  change.kind = event.op == Op::kRefund ? service::KeyChange::Kind::kRefund
                                        : service::KeyChange::Kind::kReset;
  change.attributes = event.attributes;
  change.units = event.cost.units;
  service_->Submit(operation);
  return change.request_error.empty() ? Result<void>() : Fault(std::move(change.request_error));
}

void EventRun::Release(const Event& event) {
  if (static_cast<std::uint64_t>(event.hold) > holds_.size()) {
    Note("hold " + std::to_string(event.hold) + " was never granted; so far there are " +
         std::to_string(holds_.size()));
    return;
  }
  service::NoCompletion none;
  service::Operation operation(none);
  operation.Ask<service::HoldChange>().holds.push_back(
      holds_[static_cast<std::size_t>(event.hold - 1)]);
  service_->Submit(operation);  // Releasing a hold twice is not an error.
}

void EventRun::Reload(const Event& event) {
  const auto folder = std::filesystem::path(options_.rules_file).parent_path();
  rules::Findings findings;
  auto rules = LoadRuleFile(folder / event.file, service_->Rules().get(), findings);
  if (rules == nullptr) {
    for (const Error& error : findings.errors) {
      Note(error.Text());
    }
    Note("the previous rules stay active");
    return;
  }
  PrintWarnings(findings);
  service_->SetRules(std::move(rules));
}

Result<void> EventRun::OpenTable() {
  auto table = store::Table::Create(
      {.path = {}, .keys = options_.keys, .blocks = options_.keys, .huge_pages = false}, clock_);
  if (!table) {
    return tl::unexpected(std::move(table.error()));
  }
  table_ = std::move(*table);
  service_ = std::make_unique<service::LimiterService>(*table_, metrics_);
  service_->SetRules(first_rules_);
  return {};
}

void EventRun::PrintWarnings(const rules::Findings& findings) {
  for (const Error& warning : findings.warnings) {
    err_ << "warning: " << warning.Text() << '\n';
  }
}

void EventRun::WarnOfLosses() const {
  if (table_ == nullptr) {
    return;
  }
  const store::TableStats stats = table_->Stats();
  if (const auto lost = stats.evictions + stats.block_evictions; lost != 0) {
    err_ << "warning: the table was too small: " << lost
         << " keys were evicted, so the answers are not exact: give it more keys\n";
  }
}

}  // namespace

int RunEvents(const EventsOptions& options, std::istream& in, std::ostream& out,
              std::ostream& err) {
  EventRun run(options, err);
  if (!run.Begin()) {
    return 1;
  }
  std::string line;
  for (bool first = true; std::getline(in, line); first = false) {
    if (const auto encoding = first ? logs::ForeignEncoding(line) : ""; !encoding.empty()) {
      err << "the events are " << encoding << ": convert them with `iconv -f " << encoding
          << " -t UTF-8 FILE`\n";
      return 2;
    }
    run.RunLine(first && line.starts_with("\xEF\xBB\xBF") ? line.substr(3) : line);
    out << run.TakeOutput();
  }
  run.WarnOfLosses();
  out.flush();
  if (!out) {
    err << "the answers could not be written\n";
    return 1;
  }
  return 0;
}

}  // namespace sluice::replay
