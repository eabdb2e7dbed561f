#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "frontend/http/handlers.h"
#include "service/rounding.h"
#include "wire/check_json.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::http {

namespace {

using service::BanList;
using service::KeyChange;

void RefuseChange(std::string_view detail, Exchange& exchange) {
  exchange.AnswerProblem({.status = 400, .title = {}, .detail = detail, .code = "invalid_request"});
}

// Takes `units` or `rule`. False, and answered, if it is invalid.
bool TakeReserved(const wire::JsonMember& member, std::string_view body, KeyChange& change,
                  bool& has_units, Exchange& exchange) {
  if (member.name == "rule") {
    const auto rule = wire::TextOf(member, body);
    if (!rule) {
      exchange.AnswerProblem(ProblemOf(rule.error()));
      return false;
    }
    change.only_rule = exchange.operation.arena.Keep(*rule);
    return true;
  }
  const auto cost = wire::CostOf(member, body);
  if (!cost) {
    exchange.AnswerProblem(ProblemOf(cost.error()));
    return false;
  }
  has_units = member.kind != wire::ScalarKind::kNull;
  change.units = cost->units;
  return true;
}

// Reads which keys to change, and how. False, and answered, if the body is invalid.
bool ReadChange(KeyChange::Kind kind, std::string_view body, Exchange& exchange) {
  service::Operation& operation = exchange.operation;
  auto& change = operation.Ask<KeyChange>();
  change.kind = kind;
  const bool is_unban = kind == KeyChange::Kind::kUnban;
  wire::ScalarObject object = is_unban ? wire::ScalarObject{"attributes", {"rule"}}
                                       : wire::ScalarObject{"attributes", {"rule", "units"}};
  if (const auto read = object.Read(body); !read) {
    exchange.AnswerProblem(ProblemOf(read.error()));
    return false;
  }
  bool has_units = false;
  for (const wire::JsonMember& member : object.members()) {
    if (member.reserved) {
      if (!TakeReserved(member, body, change, has_units, exchange)) {
        return false;
      }
    } else if (member.kind != wire::ScalarKind::kNull) {
      operation.attributes.push_back(
          {.name = operation.arena.Keep(member.name), .value = operation.arena.Keep(member.text)});
    }
  }
  change.attributes = operation.attributes;
  const bool is_refund = kind == KeyChange::Kind::kRefund;
  if (has_units != is_refund) {
    RefuseChange(is_refund ? "`units` is missing: the number to give back to each key"
                           : "a reset has no `units`: use a refund to give some back",
                 exchange);
    return false;
  }
  if (change.attributes.empty() && (!is_unban || change.only_rule.empty())) {
    RefuseChange("name the key's attributes, as in {\"user_id\": \"u_42\"}", exchange);
    return false;
  }
  return true;
}

void AnswerFailure(store::StoreError error, int unsupported_status,
                   std::string_view unsupported_detail, Exchange& exchange) {
  const bool unsupported = error == store::StoreError::kUnsupported;
  exchange.AnswerProblem(
      {.status = unsupported ? unsupported_status : 503,
       .title = {},
       .detail = unsupported ? unsupported_detail : "the store did not answer: try again",
       .code = unsupported ? "unsupported" : "store_unavailable"});
}

void AnswerNoBans(store::StoreError error, Exchange& exchange) {
  AnswerFailure(error, 501, "the store in use does not support bans", exchange);
}

void WriteChange(Exchange& exchange) {
  const KeyChange& change = exchange.operation.Get<KeyChange>();
  if (!change.request_error.empty()) {
    RefuseChange(change.request_error, exchange);
    return;
  }
  // That holds cannot be refunded must not hide what was done to the other rules.
  if (change.error != store::StoreError::kNone && change.touched == 0) {
    AnswerFailure(change.error, 422, "the rules that apply cannot be refunded: release their holds",
                  exchange);
    return;
  }
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("keys").Number(static_cast<std::int64_t>(change.touched));
  json.Name("complete").Truth(change.error == store::StoreError::kNone);
  json.Name("scope").Text("node");
  json.EndObject();
  exchange.AnswerText(200, "application/json", body);
}

void WriteUnban(Exchange& exchange) {
  const KeyChange& change = exchange.operation.Get<KeyChange>();
  if (!change.request_error.empty()) {
    RefuseChange(change.request_error, exchange);
  } else if (change.touched == 0 && change.error != store::StoreError::kNone &&
             change.error != store::StoreError::kNotFound) {
    AnswerNoBans(change.error, exchange);
  } else {
    std::string body;
    wire::JsonWriter json(body);
    json.BeginObject().Name("lifted").Number(static_cast<std::int64_t>(change.touched)).EndObject();
    exchange.AnswerText(200, "application/json", body);
  }
}

std::int64_t SecondsUp(WallInstant instant) {
  return std::chrono::ceil<std::chrono::seconds>(instant.time_since_epoch()).count();
}

void WriteBans(Exchange& exchange) {
  BanList& list = exchange.operation.Get<BanList>();
  if (list.error != store::StoreError::kNone) {
    AnswerNoBans(list.error, exchange);
    return;
  }
  std::ranges::sort(list.bans, {}, [](const store::BannedKey& ban) { return ban.until; });
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("bans").BeginArray();
  for (const store::BannedKey& ban : list.bans) {
    json.BeginObject();
    json.Name("rule").Text(ban.key.rule());
    json.Name("attributes").BeginObject();
    for (const core::KeyPart& part : ban.key.parts()) {
      json.EscapedName(part.attribute).Text(part.value);
    }
    json.EndObject();
    json.Name("since").Number(SecondsUp(ban.since));
    json.Name("until").Number(SecondsUp(ban.until));
    json.Name("left_ms").Number(service::CeilMilliseconds(ban.until - list.now));
    json.EndObject();
  }
  json.EndArray().EndObject();
  exchange.AnswerText(200, "application/json", body);
}

void HandleChange(const Routed& routed, KeyChange::Kind kind, Exchange::Writer write) {
  if (ReadChange(kind, routed.request.body, routed.exchange)) {
    routed.exchange.Ask(write);
  }
}

}  // namespace

void HandleReset(const Routed& routed) {
  HandleChange(routed, KeyChange::Kind::kReset, WriteChange);
}

void HandleRefund(const Routed& routed) {
  HandleChange(routed, KeyChange::Kind::kRefund, WriteChange);
}

void HandleUnban(const Routed& routed) {
  HandleChange(routed, KeyChange::Kind::kUnban, WriteUnban);
}

void HandleBans(const Routed& routed) {
  routed.exchange.operation.Ask<BanList>();
  routed.exchange.Ask(WriteBans);
}

}  // namespace sluice::frontend::http
