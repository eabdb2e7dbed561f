#include "frontend/http/batch_handler.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/answer.h"
#include "frontend/http/keyed_check.h"
#include "frontend/http/problem.h"
#include "wire/check_json.h"
#include "wire/json_array.h"

namespace sluice::frontend::http {

namespace {

class Batch;

// One check of a batch.
class BatchItem final : public service::DecideCall {
 public:
  BatchItem(Batch& batch, const signing::Keyring* keys) : batch_(&batch) { options_.keys = keys; }

  // False if the element asks nothing: then it is answered.
  bool Read(std::string_view element, wire::CheckJson& json);
  void OnVerdict() noexcept override;

  [[nodiscard]] const std::string& answer() const { return answer_; }

 private:
  void AnswerProblem(const Problem& problem) { AppendProblem(problem, answer_); }

  Batch* batch_;
  AnswerOptions options_;
  std::string text_;  // Of the attributes.
  std::vector<Attribute> own_attributes_;
  std::string answer_;
};

class Batch final : public Operation {
 public:
  Batch(service::LimiterService& service, Exchange& exchange)
      : service_(service), exchange_(exchange) {}

  void Add(std::string_view element, wire::CheckJson& json) {
    items_.push_back(std::make_unique<BatchItem>(*this, exchange_.keys()));
    if (items_.back()->Read(element, json)) {
      asked_.push_back(items_.back().get());
    }
  }

  void Start() override {
    open_ = asked_.size() + 1;
    service_.Decide(asked_);
    CloseOne();
  }

  void CloseOne() {
    if (--open_ > 0) {
      return;
    }
    std::string body = "[";
    for (const auto& item : items_) {
      body += body.size() == 1 ? "" : ",\n ";
      body += item->answer();
    }
    body += "]";
    exchange_.AnswerText(200, "application/json", body);
    exchange_.OnOperationDone();
  }

 private:
  service::LimiterService& service_;
  Exchange& exchange_;
  std::vector<std::unique_ptr<BatchItem>> items_;
  std::vector<service::DecideCall*> asked_;
  // One more than there are verdicts to come while they are asked for, so that the first to come
  // are not taken for the last.
  std::size_t open_ = 0;
};

bool BatchItem::Read(std::string_view element, wire::CheckJson& json) {
  if (const auto parsed = json.Parse(element); !parsed) {
    AnswerProblem(ProblemOf(parsed.error()));
    return false;
  }
  const wire::CheckRequest& check = json.request();
  std::size_t bytes = 0;
  for (const Attribute& attribute : check.attributes) {
    bytes += attribute.name.size() + attribute.value.size();
  }
  text_.reserve(bytes);  // It stands still: the attributes view it.
  const auto keep = [this](std::string_view part) {
    const std::size_t at = text_.size();
    text_ += part;
    return std::string_view(text_).substr(at);
  };
  own_attributes_.reserve(check.attributes.size());
  for (const Attribute& attribute : check.attributes) {
    own_attributes_.push_back({.name = keep(attribute.name), .value = keep(attribute.value)});
  }
  attributes = own_attributes_;
  cost = check.cost;
  peek = check.peek;
  want_receipts = check.receipt || check.reserve;
  options_.receipt = check.receipt;
  options_.reservation = check.reserve;
  return true;
}

void BatchItem::OnVerdict() noexcept {
  const int status = StatusOf(verdict);
  if (!verdict.request_error.empty()) {
    AnswerProblem({.status = status,
                   .title = {},
                   .detail = verdict.request_error,
                   .code = "invalid_request"});
  } else {
    AppendAnswer(verdict, options_, answer_);
    // The status of a check's reply, before the members of its body.
    answer_.insert(1, "\"status\": " + std::to_string(status) + ", ");
  }
  batch_->CloseOne();
}

}  // namespace

void HandleBatch(const wire::HttpRequest& request, service::LimiterService& service,
                 Exchange& exchange) {
  if (IsKeyed(request)) {
    exchange.AnswerProblem(
        {.status = 400,
         .title = {},
         .detail = "a batch cannot have an Idempotency-Key, which is for a single check",
         .code = "unsupported"});
    return;
  }
  std::vector<std::string_view> elements;
  if (const auto split = wire::SplitJsonArray(request.body, kMostChecksInBatch, elements); !split) {
    exchange.AnswerProblem(ProblemOf(split.error()));
    return;
  }
  auto batch = std::make_unique<Batch>(service, exchange);
  for (const std::string_view element : elements) {
    batch->Add(element, exchange.json);
  }
  exchange.Send(std::move(batch));
}

}  // namespace sluice::frontend::http
