#include <cstdint>
#include <string>
#include <vector>

#include "frontend/http/handlers.h"
#include "wire/http1_response.h"
#include "wire/json_cursor.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

namespace {

struct NamedHold {
  std::string_view name;
  std::string_view id;
};

// Reads the body. Each step is false if it found something unexpected.
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

void WriteHolds(Exchange& exchange) {
  const Redemption& redemption = exchange.redemption;
  const Redeemed outcome = redemption.outcome();
  const bool renew =
      exchange.operation.Get<service::HoldChange>().kind == service::HoldChange::Kind::kRenew;
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  int status = 200;
  if (outcome != Redeemed::kDone) {
    const Problem problem =
        ProblemOf(outcome, {.status = 404,
                            .title = {},
                            .detail = "the hold was released or has expired: check again",
                            .code = "no_such_hold"});
    status = problem.status;
    wire::AppendProblemMembers(json, {.title = wire::StatusPhrase(status),
                                      .status = status,
                                      .detail = problem.detail,
                                      .code = problem.code});
  }
  json.Name(renew ? "renewed" : "released").Number(static_cast<std::int64_t>(redemption.done()));
  json.EndObject();
  exchange.AnswerText(status, outcome == Redeemed::kDone ? "application/json" : kProblemType, body);
}

void HandleHolds(const Routed& routed, service::HoldChange::Kind kind) {
  Exchange& exchange = routed.exchange;
  const auto refuse = [&exchange](std::string_view detail, std::string_view code) {
    exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = code});
  };
  HoldsReader reader(routed.request.body);
  if (!reader.Read()) {
    refuse(
        R"(the body is {"name": …, "id": …}, or {"holds": [{"name": …, "id": …}]} of 64 at most, )"
        "taken from the answer to a check",
        "invalid_body");
    return;
  }
  exchange.redemption.BeginHolds(kind, routed.at.settings.keys);
  for (const NamedHold& named : reader.holds()) {
    if (!exchange.redemption.AddHold(named.name, named.id)) {
      refuse("`name` and `id` must come from the answer to a check", "invalid_hold");
      return;
    }
  }
  exchange.Ask(WriteHolds);
}

}  // namespace

void HandleRelease(const Routed& routed) {
  HandleHolds(routed, service::HoldChange::Kind::kRelease);
}

void HandleRenew(const Routed& routed) {
  HandleHolds(routed, service::HoldChange::Kind::kRenew);
}

}  // namespace sluice::frontend::http
