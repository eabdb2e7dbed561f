#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "frontend/http/answer.h"
#include "frontend/http/handlers.h"
#include "frontend/http/why_report.h"
#include "lease/lease_store.h"
#include "service/fallback.h"
#include "service/operation.h"

namespace sluice::frontend::http {

namespace {

// Asks for all that a report says, which is there at different times: the verdict first, then the
// bans and what each loop has borrowed. The exchange owns it.
class WhyTask final : public Task, private service::Completion {
 public:
  WhyTask(Exchange& exchange, const Backend& at)
      : exchange_(exchange), service_(at.service), context_(*at.settings.context) {}

  void Start() override {
    const auto& asked = exchange_.operation.Get<service::RuleCheck>();
    report_.set = service_.Rules();
    report_.is_shared = context_.leases != nullptr;
    auto& check = peek_.Ask<service::RuleCheck>();
    check.attributes = asked.attributes;
    check.cost = asked.cost;
    check.peek = true;
    check.absent_cost = rules::AbsentCost::kIsTheCalls;
    check.secrets = rules::Secrets::kMayBeHashes;
    sent_ = Wall();
    open_ = 1;
    service_.Submit(peek_);
  }

 private:
  void OnCompleted(service::Operation& operation) noexcept override {
    if (&operation == &peek_) {
      TakeVerdict(peek_.Get<service::RuleCheck>());
    } else {
      TakeBans(bans_.Get<service::BanList>());
    }
    CloseOne();
  }

  void TakeVerdict(const service::RuleCheck& check);
  void TakeDecision(const service::RuleDecision& made);
  void TakeClock(WallInstant store);
  void AskWhatIsBorrowed(WhyRule& part);
  void TakeBans(const service::BanList& list);

  void CloseOne() {
    if (--open_ > 0) {
      return;
    }
    std::string body;
    AppendWhy(report_, body);
    exchange_.AnswerText(200, "application/json", body);
    exchange_.OnTaskDone();
  }

  [[nodiscard]] WallInstant Wall() const { return exchange_.pool().clock().Read().wall_clock; }

  Exchange& exchange_;
  service::LimiterService& service_;
  const AdminContext& context_;
  service::Operation peek_{*this};
  service::Operation bans_{*this};
  WallInstant sent_{};
  WhyReport report_;
  std::size_t open_ = 0;  // Answers to come.
  // What loops report after the task is gone is dropped.
  const std::shared_ptr<WhyTask*> self_ = std::make_shared<WhyTask*>(this);
};

void WhyTask::TakeVerdict(const service::RuleCheck& check) {
  const service::Verdict& verdict = check.verdict;
  report_.allowed = verdict.allowed;
  report_.status = StatusOf(verdict);
  report_.kill_switch = verdict.kill_switch;
  report_.request_error = verdict.request_error;
  report_.wait = verdict.wait;
  if (const service::RuleDecision* const governing = verdict.governing_decision()) {
    report_.governing = governing->rule->id;
  }
  const rules::ModeOverrides modes = service_.Modes();
  for (auto& explained : report_.set->Explain(check.attributes, check.cost, modes)) {
    const rules::Mode mode = modes.Effective(*explained.rule);
    report_.rules.push_back({.explained = std::move(explained), .mode = mode});
  }
  report_.answered = true;
  for (const service::RuleDecision& made : verdict.decisions) {
    TakeDecision(made);
  }
  TakeClock(verdict.now);
  bool any_banned = false;
  for (WhyRule& part : report_.rules) {
    any_banned |= part.decision && part.decision->reason == Reason::kBanned;
    if (part.decision && context_.leases != nullptr &&
        part.explained.rule->sync == core::Sync::kLease) {
      AskWhatIsBorrowed(part);
    }
  }
  if (any_banned) {
    ++open_;
    bans_.Ask<service::BanList>();
    service_.Submit(bans_);
  }
}

void WhyTask::TakeDecision(const service::RuleDecision& made) {
  const auto part = std::ranges::find(
      report_.rules, made.rule->id,
      [](const WhyRule& each) -> const std::string& { return each.explained.rule->id; });
  if (part == report_.rules.end()) {
    return;  // The rules were replaced just now.
  }
  part->decision = made.decision;
  if (made.rule->action != rules::Action::kLimit ||
      made.decision.reason == Reason::kAttributeMissing) {
    return;
  }
  report_.asked = true;
  report_.answered &= !made.decision.degraded;
  const core::KeyView key{
      .rule = made.rule->id, .formerly = made.rule->formerly, .parts = made.parts};
  part->key.Assign(key);
  if (context_.fallback != nullptr) {
    part->remembered = context_.fallback->Remembered(key, made.quota, made.cost);
  }
}

void WhyTask::TakeClock(WallInstant store) {
  const WallInstant came = Wall();
  const bool has_store_time = report_.asked && report_.answered && store != WallInstant{};
  report_.now = has_store_time ? store : came;
  if (has_store_time && report_.is_shared) {
    report_.clock = OffsetOf(sent_, came, store);
  }
}

void WhyTask::AskWhatIsBorrowed(WhyRule& part) {
  ++open_;
  context_.leases->Report(part.key.view(), part.explained.quota,
                          [task = std::weak_ptr<WhyTask*>(self_), set = report_.set,
                           &part](const lease::BorrowedUnits& borrowed) {
                            if (const auto alive = task.lock()) {
                              part.borrowed = borrowed;
                              (*alive)->CloseOne();
                            }
                          });
}

void WhyTask::TakeBans(const service::BanList& list) {
  for (const store::BannedKey& ban : list.bans) {
    const auto part = std::ranges::find_if(report_.rules, [&](const WhyRule& each) {
      return each.decision && each.explained.rule->id == ban.key.rule() &&
             std::ranges::equal(each.key.parts(), ban.key.parts());
    });
    if (part != report_.rules.end()) {
      part->ban = ban;
    }
  }
}

}  // namespace

void HandleWhy(const Routed& routed) {
  if (ReadStatusQuery(routed)) {
    routed.exchange.Run(std::make_unique<WhyTask>(routed.exchange, routed.at));
  }
}

}  // namespace sluice::frontend::http
