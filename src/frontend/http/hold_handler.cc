#include "frontend/http/hold_handler.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontend/hold_redemption.h"
#include "frontend/http/problem.h"
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

class Holds final : public Operation, private HoldRedemption {
 public:
  Holds(service::LimiterService& service, bool renew, Exchange& exchange)
      : HoldRedemption(service, exchange.keys(), renew), exchange_(exchange) {}

  using HoldRedemption::Add;

  void Start() override { Redeem(); }

 private:
  void OnRedeemed() noexcept override {
    Answer();
    exchange_.OnOperationDone();
  }

  void Answer() {
    const bool done_all = outcome() == Redeemed::kDone;
    std::string body;
    wire::JsonWriter json(body);
    json.BeginObject();
    int status = 200;
    if (!done_all) {
      const Problem problem =
          ProblemOf(outcome(), {.status = 404,
                                .title = {},
                                .detail = "the hold was released or has expired: check again",
                                .code = "no_such_hold"});
      status = problem.status;
      wire::AppendProblemMembers(json, {.title = wire::StatusPhrase(status),
                                        .status = status,
                                        .detail = problem.detail,
                                        .code = problem.code});
    }
    json.Name(renews() ? "renewed" : "released").Number(static_cast<std::int64_t>(done()));
    json.EndObject();
    exchange_.AnswerText(status, done_all ? "application/json" : kProblemType, body);
  }

  Exchange& exchange_;
};

void Refuse(std::string_view detail, std::string_view code, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = code});
}

}  // namespace

void HandleHolds(const wire::HttpRequest& request, bool renew, service::LimiterService& service,
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
    if (!holds->Add(named.name, named.id)) {
      Refuse("`name` and `id` must come from the answer to a check", "invalid_hold", exchange);
      return;
    }
  }
  exchange.Send(std::move(holds));
}

}  // namespace sluice::frontend::http
