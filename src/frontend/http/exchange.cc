#include "frontend/http/exchange.h"

#include <utility>

#include "base/assert.h"
#include "base/clock.h"
#include "net/event_loop.h"
#include "wire/http1_response.h"

namespace sluice::frontend::http {

Exchange::Exchange(ExchangePool& pool)
    : operation(*this), redemption(operation), pool_(pool), hold_([this] { BecomeReady(); }) {
  operation.listener = pool.settings().name;
}

void Exchange::Begin(Client& client, const wire::HttpRequest* request) {
  client_ = &client;
  state_ = State::kFresh;
  context.keep_alive = request == nullptr || request->keep_alive;
  context.head_only = request != nullptr && request->method == wire::HttpMethod::kHead;
  context.minor_version = request == nullptr ? 1 : request->minor_version;
  context.wait = context.receipt = context.reserve = false;
  hold_back_ = {};
  operation.Clear();
  if (request != nullptr && request->fields.Has(wire::RareField::kRequestId)) {
    operation.request_id.Take(request->Field(kRequestIdField));
  }
  if (request != nullptr && request->fields.Has(wire::RareField::kTraceParent)) {
    operation.trace.Take(request->TraceParent());
  }
  response.Clear();
  task_.reset();
  for_others_ = false;
  is_named_ = false;
}

std::string_view Exchange::IdInAnswer() {
  return is_named_ || response.status >= 400 || operation.request_id.is_wanted()
             ? operation.request_id.View()
             : std::string_view();
}

void Exchange::AnswerProblem(const Problem& problem) {
  Log(problem.status, problem.detail);
  response.SetProblem(problem);
  SetReady();
}

void Exchange::AnswerText(int status, std::string_view content_type, std::string_view body) {
  response.SetText(status, content_type, body);
  SetReady();
}

void Exchange::Log(int status, std::string_view detail) const {
  AnswerLog* const log = pool_.settings().log;
  if (log != nullptr && AnswerLog::IsRefusal(status)) {
    log->Note(base::CoarseSteadyNow().time_since_epoch(), status,
              client_ != nullptr ? client_->peer_address() : std::string_view(), detail);
  }
}

void Exchange::Run(std::unique_ptr<Task> task) {
  task_ = std::move(task);
  state_ = State::kTask;
  task_starts_ = true;
  task_->Start();
  task_starts_ = false;
}

void Exchange::OnTaskDone() {
  SLUICE_DCHECK(ready());
  if (task_starts_) {
    return;  // The connection, which routed the request, sees that it is ready.
  }
  if (client_ == nullptr) {
    pool_.Return(*this);
    return;
  }
  client_->OnExchangeReady(*this);
}

Duration Exchange::Now() const {
  return pool_.clock().Read().boot;
}

void Exchange::OnCompleted(service::Operation& /*operation*/) noexcept {
  if (client_ != nullptr || for_others_) {
    write_(*this);
  }
  if (client_ == nullptr) {
    pool_.Return(*this);
    return;
  }
  if (hold_back_.count() > 0) {
    state_ = State::kHeld;
    pool_.loop().ArmAfter(hold_, hold_back_, net::TimerPrecision::kExact);
    return;
  }
  BecomeReady();
}

void Exchange::BecomeReady() {
  SetReady();
  client_->OnExchangeReady(*this);
}

void Exchange::Abandon() {
  client_ = nullptr;
  if (state_ == State::kAsking || state_ == State::kTask) {
    return;  // The store has it. OnCompleted() or OnTaskDone() returns it.
  }
  hold_.Cancel();
  pool_.Return(*this);
}

void Exchange::Render(std::string_view date, bool keep_alive, std::string& out) {
  SLUICE_DCHECK(ready());
  if (response.raw) {
    out += response.body;
    return;
  }
  wire::Http1Response rendered(out, {.status = response.status,
                                     .keep_alive = keep_alive,
                                     .minor_version = context.minor_version,
                                     .head_only = context.head_only,
                                     .date = date});
  out += response.fields;
  if (const std::string_view id = IdInAnswer(); !id.empty()) {
    rendered.Field(kRequestIdField, id);
  }
  rendered.Finish(response.content_type, response.body);
}

}  // namespace sluice::frontend::http
