#include "frontend/http/exchange.h"

#include <string>
#include <utility>
#include <vector>

#include "sluice/reason.h"

#include "base/assert.h"
#include "base/coarse_clock.h"
#include "base/random.h"
#include "frontend/http/answer.h"
#include "frontend/http/client.h"
#include "frontend/http/exchange_pool.h"
#include "frontend/http/limit_headers.h"
#include "net/event_loop.h"
#include "rules/rule.h"
#include "wire/problem.h"

namespace sluice::frontend::http {

Exchange::Exchange(ExchangePool& pool) : pool_(pool), hold_([this] { BecomeReady(); }) {}

void Exchange::Reset(Client& client) {
  client_ = &client;
  state_ = State::kFresh;
  kind_ = Kind::kPrepared;
  keep_alive_ = true;
  head_only_ = false;
  wait_ = false;
  minor_version_ = 1;
  fields_.clear();
  body_.clear();
  operation_.reset();
  memory_ = nullptr;
  attributes = {};
  cost = Cost{};
  peek = false;
  want_receipts = false;
  receipt = reserve = false;
  absent_cost = rules::AbsentCost::kIsAnError;
  secrets = rules::Secrets::kAreValues;
}

void Exchange::Begin(Client& client, const wire::HttpRequest& request) {
  Reset(client);
  keep_alive_ = request.keep_alive;
  head_only_ = request.method == wire::HttpMethod::kHead;
  minor_version_ = request.minor_version;
}

void Exchange::BeginWithoutRequest(Client& client) {
  Reset(client);
}

void Exchange::AnswerProblem(const Problem& problem) {
  Log(problem.status, problem.detail);
  Write(problem);
}

void Exchange::Log(int status, std::string_view detail) const {
  if (AnswerLog* const log = pool_.log(); log != nullptr && AnswerLog::IsRefusal(status)) {
    log->Note(base::CoarseSteadyNow().time_since_epoch(), status,
              client_ != nullptr ? client_->peer_address() : std::string_view(), detail);
  }
}

void Exchange::Write(const Problem& problem) {
  status_ = problem.status;
  content_type_ = kProblemType;
  body_.clear();
  AppendProblem(problem, body_);
  AppendField("Cache-Control", "no-store", fields_);
  state_ = State::kReady;
}

void Exchange::AnswerText(int status, std::string_view content_type, std::string_view body) {
  status_ = status;
  content_type_ = content_type;
  body_ = body;
  AppendField("Cache-Control", "no-store", fields_);
  state_ = State::kReady;
}

void Exchange::AnswerRaw(std::string_view bytes) {
  kind_ = Kind::kRaw;
  body_ = bytes;
  state_ = State::kReady;
}

void Exchange::AddField(std::string_view name, std::string_view value) {
  AppendField(name, value, fields_);
}

void Exchange::AskCheck(bool wait) {
  kind_ = Kind::kCheck;
  wait_ = wait;
  state_ = State::kAsking;
}

void Exchange::AskStatus() {
  kind_ = Kind::kStatus;
  peek = true;
  absent_cost = rules::AbsentCost::kIsTheCalls;
  state_ = State::kAsking;
}

void Exchange::Send(std::unique_ptr<Operation> operation) {
  operation_ = std::move(operation);
  state_ = State::kOperation;
  operation_starts_ = true;
  operation_->Start();
  operation_starts_ = false;
}

void Exchange::OnOperationDone() {
  SLUICE_DCHECK(ready());
  if (operation_starts_) {
    return;  // Whoever routed the request sees that it is ready.
  }
  if (client_ == nullptr) {
    pool_.Return(*this);
    return;
  }
  client_->OnExchangeReady(*this);
}

void Exchange::AnswerAsProxyCheck(const ProxyAnswer& answer) {
  kind_ = Kind::kProxyCheck;
  deny_status_ = answer.deny_status;
  grpc_ = answer.grpc;
  origin_ = answer.origin;
}

void Exchange::RefuseRequest(std::string_view wrong) {
  Log(400, wrong);
  AppendField("X-RL-Status", "400", fields_);
  Write({.status = deny_status_,
         .title = {},
         .detail = "the request cannot be judged",
         .code = "invalid_request"});
}

void Exchange::BlameProxy(std::string_view wrong) {
  constexpr int kStatus = 500;
  Log(kStatus, wrong);
  AppendField("X-RL-Status", std::to_string(kStatus), fields_);
  Write({.status = kStatus, .title = {}, .detail = {}, .code = "proxy_misconfigured"});
}

void Exchange::AskProxyCheck() {
  state_ = State::kAsking;
}

void Exchange::RememberIn(idempotency::AnswerMemory& memory, const std::string& name) {
  memory_ = &memory;
  memory_name_ = name;
}

void Exchange::AnswerAsBefore(const idempotency::AnswerMemory::Answer& answer) {
  status_ = 200;
  content_type_ = "application/json";
  fields_ = answer.metadata;
  AppendField("Idempotent-Replayed", "true", fields_);
  body_ = answer.body;
  state_ = State::kReady;
}

std::string_view Exchange::peer_address() const {
  return client_->peer_address();
}

net::EventLoop& Exchange::loop() const {
  return pool_.loop();
}

const signing::Keyring* Exchange::keys() const {
  return pool_.keys();
}

Duration Exchange::Now() const {
  return pool_.clock().Read().boot;
}

// Also where nobody is there any more to be answered: whoever comes again has spent already.
void Exchange::Remember() {
  idempotency::AnswerMemory& memory = *std::exchange(memory_, nullptr);
  if (verdict.request_error.empty() && verdict.allowed && !peek) {
    memory.Keep(memory_name_, Now(), {.metadata = fields_, .body = body_});
  } else {
    memory.Drop(memory_name_);
  }
}

void Exchange::OnVerdict() noexcept {
  if (client_ == nullptr && memory_ == nullptr) {
    pool_.Return(*this);
    return;
  }
  // The wait began when the store decided, which is before now: never early. A wait above
  // the bound is told, not held: whoever asked waits for itself.
  wait_ =
      wait_ && verdict.allowed && verdict.wait.count() > 0 && verdict.wait <= pool_.longest_wait();
  TakeVerdict();
  if (memory_ != nullptr) [[unlikely]] {
    Remember();
    if (client_ == nullptr) {
      pool_.Return(*this);
      return;
    }
  }
  if (wait_) {
    state_ = State::kHeld;
    pool_.loop().ArmAfter(hold_, verdict.wait, net::TimerPrecision::kExact);
    return;
  }
  BecomeReady();
}

void Exchange::BecomeReady() {
  state_ = State::kReady;
  client_->OnExchangeReady(*this);
}

void Exchange::Abandon() {
  client_ = nullptr;
  if (state_ == State::kAsking || state_ == State::kOperation) {
    return;  // The store has it: OnVerdict() or OnOperationDone() returns it.
  }
  hold_.Cancel();
  pool_.Return(*this);
}

void Exchange::TakeVerdict() {
  if (kind_ == Kind::kProxyCheck) {
    TakeProxyVerdict();
    return;
  }
  if (!verdict.request_error.empty()) {
    AnswerProblem(
        {.status = 400, .title = {}, .detail = verdict.request_error, .code = "invalid_request"});
    return;
  }
  if (verdict.now == WallInstant{}) {
    verdict.now = pool_.clock().Read().wall;  // No store was asked.
  }
  // A status is asked for to be read: 200, whatever it says. A denied check has the status of
  // the reason that governs, and must not be cached (RFC 6585, section 4).
  const bool denied = kind_ == Kind::kCheck && !verdict.allowed;
  const service::RuleDecision* governing = verdict.governing_decision();
  SLUICE_DCHECK(!denied || governing != nullptr);
  status_ = denied ? RowOf(governing->decision.reason).http_status : 200;
  AppendLimitFields(verdict, fields_, pool_.limit_dialects());
  if (denied) {
    AppendRetryAfter();
  }
  if (denied || kind_ == Kind::kStatus) {
    AppendField("Cache-Control", "no-store", fields_);
  }
  content_type_ = "application/json";
  AppendAnswer(verdict,
               {.waited = wait_, .receipt = receipt, .reservation = reserve, .keys = pool_.keys()},
               body_);
}

void Exchange::AppendRetryAfter() {
  if (const auto seconds = RetryAfterSeconds(verdict, base::ThreadRandom().Next())) {
    AppendField("Retry-After", *seconds, fields_);
  }
}

// Proxies take 200 for yes and the status that they asked for as no; all others are failures of
// ours to them. What it would have been stands beside it.
void Exchange::TakeProxyVerdict() {
  if (!verdict.request_error.empty()) {
    RefuseRequest(verdict.request_error);
    return;
  }
  if (verdict.now == WallInstant{}) {
    verdict.now = pool_.clock().Read().wall;  // No store was asked.
  }
  AppendLimitFields(verdict, fields_, pool_.limit_dialects());
  content_type_ = {};
  if (verdict.allowed) {
    status_ = 200;
    AppendField("X-RL-Status", "200", fields_);
    return;
  }
  const service::RuleDecision* governing = verdict.governing_decision();
  SLUICE_DCHECK(governing != nullptr);
  const ReasonRow& row = RowOf(governing->decision.reason);
  status_ = deny_status_;
  AppendField("X-RL-Status", row.http_status, fields_);
  AppendRetryAfter();
  AppendField("Cache-Control", "no-store", fields_);
  if (!origin_.empty()) {
    AppendField("Access-Control-Allow-Origin", origin_, fields_);
    AppendField("Access-Control-Expose-Headers",
                "Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, "
                "X-RateLimit-Remaining, X-RateLimit-Reset",
                fields_);
    AppendField("Vary", "Origin", fields_);
  }
  const std::string detail = governing->rule->id + " denies: " + std::string(row.name);
  if (grpc_) {
    content_type_ = "application/grpc";
    AppendField("grpc-status", row.grpc_code, fields_);
    AppendField("grpc-message", detail, fields_);
    return;
  }
  std::vector<std::string_view> violated;
  for (const service::RuleDecision& item : verdict.decisions) {
    if (!item.decision.allowed && !item.decision.shadow) {
      violated.push_back(item.rule->id);
    }
  }
  content_type_ = kProblemType;
  wire::AppendProblem(body_, {.type = row.problem_type,
                              .title = row.title,
                              .status = status_,
                              .detail = detail,
                              .code = row.name,
                              .violated_policies = violated});
}

void Exchange::Render(std::string_view date, bool keep_alive, std::string& out) const {
  SLUICE_DCHECK(ready());
  if (kind_ == Kind::kRaw) {
    out += body_;
    return;
  }
  wire::Http1Response response(out, {.status = status_,
                                     .keep_alive = keep_alive,
                                     .minor_version = minor_version_,
                                     .head_only = head_only_,
                                     .date = date});
  out += fields_;
  response.Finish(content_type_, body_);
}

}  // namespace sluice::frontend::http
