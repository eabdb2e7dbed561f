#include "frontend/http/hold_handler.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/http/problem.h"
#include "frontend/key_token.h"
#include "service/operator_call.h"
#include "wire/json_cursor.h"
#include "wire/json_writer.h"
#include "wire/problem.h"

namespace sluice::frontend::http {

namespace {

struct NamedHold {
  std::string_view name;
  std::string_view id;
};

// Reads the body. Each step is false where it found what does not belong there.
class HoldsReader {
 public:
  explicit HoldsReader(std::string_view body) : text_(body), cursor_(text_.data(), text_.size()) {}

  bool Read() {
    NamedHold single;
    if (!ReadObject(&single, true) || cursor_.Peek() != '\0' || !cursor_.at_end()) {
      return false;
    }
    if (!single.name.empty() || !single.id.empty()) {
      holds_.push_back(single);
    }
    return !holds_.empty();
  }

  // Views into this.
  [[nodiscard]] const std::vector<NamedHold>& holds() const { return holds_; }
  [[nodiscard]] std::size_t offset() const { return cursor_.offset(); }

 private:
  bool ReadObject(NamedHold* hold, bool outer) {
    if (!cursor_.Take('{')) {
      return false;
    }
    if (cursor_.Take('}')) {
      return true;
    }
    do {
      std::string_view member;
      if (cursor_.Peek() != '"' || !cursor_.TakeString(member) || !cursor_.Take(':')) {
        return false;
      }
      if (outer && member == "holds") {
        if (!ReadList()) {
          return false;
        }
        continue;
      }
      std::string_view* const value = member == "name" ? &hold->name
                                      : member == "id" ? &hold->id
                                                       : nullptr;
      if (value == nullptr || !value->empty() || cursor_.Peek() != '"' ||
          !cursor_.TakeString(*value)) {
        return false;
      }
    } while (cursor_.Take(','));
    return cursor_.Take('}');
  }

  bool ReadList() {
    if (!cursor_.Take('[')) {
      return false;
    }
    if (cursor_.Take(']')) {
      return true;
    }
    do {
      NamedHold hold;
      if (!ReadObject(&hold, false) || holds_.size() == store::kMaxChecksPerCall) {
        return false;
      }
      holds_.push_back(hold);
    } while (cursor_.Take(','));
    return cursor_.Take(']');
  }

  std::string text_;
  wire::JsonCursor cursor_;
  std::vector<NamedHold> holds_;
};

class Holds;

class OneHold final : public service::HolderCall {
 public:
  OneHold(Holds& holds, std::string_view name, HoldToken token)
      : holds_(&holds), name_(name), token_(std::move(token)), views_(token_.key.Views()) {
    rule = name_;
    parts = views_;
    hold = token_.hold;
  }

  void OnDone() noexcept override;

 private:
  Holds* holds_;
  std::string name_;
  HoldToken token_;
  std::vector<core::KeyPart> views_;
};

class Holds final : public Errand {
 public:
  Holds(service::LimiterService& service, bool renew, Exchange& exchange)
      : service_(service), exchange_(exchange), renew_(renew) {}

  void Add(std::string_view name, HoldToken token) {
    calls_.push_back(std::make_unique<OneHold>(*this, name, std::move(token)));
  }

  void Start() override {
    open_ = calls_.size() + 1;
    for (const auto& call : calls_) {
      if (renew_) {
        service_.Renew(*call);
      } else {
        service_.Release(*call);
      }
    }
    CloseOne(store::StoreError::kNotFound);
  }

  void CloseOne(store::StoreError error) {
    done_ += error == store::StoreError::kNone ? 1 : 0;
    if (error != store::StoreError::kNone && error != store::StoreError::kNotFound) {
      failure_ = error;
    }
    if (--open_ > 0) {
      return;
    }
    Answer();
    exchange_.OnErrandDone();
  }

 private:
  void Answer() {
    const bool lost = renew_ && done_ < calls_.size();
    wire::Problem problem;
    if (failure_ == store::StoreError::kUnsupported) {
      problem = {
          .status = 501, .detail = "the store in use does not support this", .code = "unsupported"};
    } else if (failure_ != store::StoreError::kNone) {
      problem = {.status = 503,
                 .detail = "the store did not answer: try again",
                 .code = "store_unavailable"};
    } else if (lost) {
      problem = {.status = 404,
                 .detail = "the hold was released or has expired: check again",
                 .code = "no_such_hold"};
    }
    std::string body;
    wire::JsonWriter json(body);
    json.BeginObject();
    if (problem.status != 0) {
      problem.title = wire::StatusPhrase(problem.status);
      wire::AppendProblemMembers(json, problem);
    }
    json.Name(renew_ ? "renewed" : "released").Number(static_cast<std::int64_t>(done_));
    json.EndObject();
    exchange_.AnswerText(problem.status == 0 ? 200 : problem.status,
                         problem.status == 0 ? "application/json" : kProblemType, body);
  }

  service::LimiterService& service_;
  Exchange& exchange_;
  const bool renew_;
  std::vector<std::unique_ptr<OneHold>> calls_;
  std::size_t open_ = 0;
  std::size_t done_ = 0;
  store::StoreError failure_ = store::StoreError::kNone;
};

void OneHold::OnDone() noexcept {
  holds_->CloseOne(error);
}

void Refuse(std::string_view detail, std::string_view code, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = code});
}

}  // namespace

void HandleHolds(const wire::Http1Request& request, bool renew, service::LimiterService& service,
                 Exchange& exchange) {
  HoldsReader reader(request.body);
  if (!reader.Read()) {
    Refuse(
        R"(the body is {"name": …, "id": …}, or {"holds": [{"name": …, "id": …}]} of 64 at most, )"
        "taken from the answer to a check",
        "invalid_body", exchange);
    return;
  }
  auto holds = std::make_unique<Holds>(service, renew, exchange);
  for (const NamedHold& named : reader.holds()) {
    auto token = ReadHoldToken(named.id);
    if (!token || named.name.empty()) {
      Refuse("`name` and `id` must come from the answer to a check", "invalid_hold", exchange);
      return;
    }
    holds->Add(named.name, *std::move(token));
  }
  exchange.Send(std::move(holds));
}

}  // namespace sluice::frontend::http
