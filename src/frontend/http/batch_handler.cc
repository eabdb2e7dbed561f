#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/answer.h"
#include "frontend/http/handlers.h"
#include "wire/check_json.h"
#include "wire/json_text.h"

namespace sluice::frontend::http {

namespace {

class Batch;

// One check of a batch.
class BatchItem final : private service::Completion {
 public:
  BatchItem(Batch& batch, const signing::Keyring* keys) : batch_(batch) { options_.keys = keys; }

  // The operation to submit, with the id of `asked`, the batch's; nullptr if the element needs
  // none: then it is answered.
  service::Operation* Read(std::string_view element, const service::Operation& asked,
                           wire::CheckJson& json);

  [[nodiscard]] const std::string& answer() const { return answer_; }

 private:
  void OnCompleted(service::Operation& operation) noexcept override;

  Batch& batch_;
  service::Operation operation_{*this};
  AnswerOptions options_;
  std::string answer_;
};

class Batch final : public Task {
 public:
  Batch(service::LimiterService& service, Exchange& exchange)
      : service_(service), exchange_(exchange) {
    (void)exchange_.operation.request_id.View();  // All items have this id.
    exchange_.NameAnswer();
  }

  void Add(std::string_view element) {
    items_.push_back(std::make_unique<BatchItem>(*this, exchange_.pool().settings().keys));
    if (auto* const operation =
            items_.back()->Read(element, exchange_.operation, exchange_.context.json)) {
      asked_.push_back(operation);
    }
  }

  void Start() override {
    open_ = asked_.size() + 1;
    service_.Submit(asked_);
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
    exchange_.OnTaskDone();
  }

 private:
  service::LimiterService& service_;
  Exchange& exchange_;
  std::vector<std::unique_ptr<BatchItem>> items_;
  std::vector<service::Operation*> asked_;
  // One more than the verdicts to come while they are submitted, so that an early one is not taken
  // for the last.
  std::size_t open_ = 0;
};

service::Operation* BatchItem::Read(std::string_view element, const service::Operation& asked,
                                    wire::CheckJson& json) {
  if (const auto parsed = json.Parse(element); !parsed) {
    AppendProblem(ProblemOf(parsed.error()), answer_);
    return nullptr;
  }
  const wire::CheckRequest& read = json.request();
  for (const Attribute& attribute : read.attributes) {
    operation_.attributes.push_back({.name = operation_.arena.Keep(attribute.name),
                                     .value = operation_.arena.Keep(attribute.value)});
  }
  operation_.request_id = asked.request_id;
  operation_.trace = asked.trace;
  operation_.listener = asked.listener;
  auto& check = operation_.Ask<service::RuleCheck>();
  check.attributes = operation_.attributes;
  check.cost = read.cost;
  check.peek = read.peek;
  check.want_receipts = read.receipt || read.reserve;
  options_.receipt = read.receipt;
  options_.reservation = read.reserve;
  return &operation_;
}

void BatchItem::OnCompleted(service::Operation& operation) noexcept {
  const service::Verdict& verdict = operation.Get<service::RuleCheck>().verdict;
  const int status = StatusOf(verdict);
  if (!verdict.request_error.empty()) {
    AppendProblem(
        {.status = status, .title = {}, .detail = verdict.request_error, .code = "invalid_request"},
        answer_);
  } else {
    AppendAnswer(verdict, options_, answer_);
    // The status of a check's reply, before the members of its body.
    answer_.insert(1, "\"status\": " + std::to_string(status) + ", ");
  }
  batch_.CloseOne();
}

}  // namespace

void HandleBatch(const Routed& routed) {
  Exchange& exchange = routed.exchange;
  if (IsKeyed(routed.request)) {
    exchange.AnswerProblem(
        {.status = 400,
         .title = {},
         .detail = "a batch cannot have an Idempotency-Key, which is for a single check",
         .code = "unsupported"});
    return;
  }
  std::vector<std::string_view> elements;
  if (const auto split = wire::SplitJsonArray(routed.request.body, kMostChecksInBatch, elements);
      !split) {
    exchange.AnswerProblem(ProblemOf(split.error()));
    return;
  }
  auto batch = std::make_unique<Batch>(routed.at.service, exchange);
  for (const std::string_view element : elements) {
    batch->Add(element);
  }
  exchange.Run(std::move(batch));
}

}  // namespace sluice::frontend::http
