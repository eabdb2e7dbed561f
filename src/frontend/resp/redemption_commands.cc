#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/resp/commands.h"
#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "wire/ascii.h"

namespace sluice::frontend::resp {

namespace {

constexpr std::string_view kCostFault = "COST must be a whole number from 0 to 999999999999999";

void AppendFailure(Redeemed outcome, wire::RespWriter& writer) {
  if (outcome == Redeemed::kNotFound) {
    writer.Error("NOTFOUND", "unknown charge: the token was altered, or its rules no longer exist");
  } else if (outcome == Redeemed::kUnsupported) {
    writer.Error("ERR", "the store in use does not support this");
  } else {
    writer.Error("SHED", "the store did not answer: try again");
  }
}

void WriteHolds(Exchange& exchange, std::string& out) {
  wire::RespWriter writer = exchange.WriterTo(out);
  const Redeemed outcome = exchange.redemption.outcome();
  if (outcome == Redeemed::kUnsupported || outcome == Redeemed::kUnavailable) {
    AppendFailure(outcome, writer);
  } else {
    // Those that are gone are no error.
    writer.Integer(static_cast<std::int64_t>(exchange.redemption.done()));
  }
}

void AppendCharge(const service::Charge& charge, bool refund, wire::RespWriter& writer) {
  writer.Map(refund ? 2 : 3);
  writer.Bulk("name");
  writer.Bulk(charge.key.rule());
  if (refund) {
    writer.Bulk("units");
    writer.Integer(charge.made.units - charge.settled);
  } else {
    writer.Bulk("charged");
    writer.Integer(charge.made.units);
    writer.Bulk("cost");
    writer.Integer(charge.settled);
  }
}

void WriteCharges(Exchange& exchange, std::string& out) {
  wire::RespWriter writer = exchange.WriterTo(out);
  const Redeemed outcome = exchange.redemption.outcome();
  if (outcome != Redeemed::kDone) {
    AppendFailure(outcome, writer);
    return;
  }
  const auto counts = [](const service::Charge& charge) {
    return charge.error == store::StoreError::kNone;
  };
  const auto charges = exchange.redemption.charges();
  const bool refund =
      exchange.operation.Get<service::Settlement>().kind == service::Settlement::Kind::kRefund;
  writer.Array(static_cast<std::size_t>(std::ranges::count_if(charges, counts)));
  for (const service::Charge& charge : charges) {
    if (counts(charge)) {
      AppendCharge(charge, refund, writer);
    }
  }
}

void RunHolds(Args args, Connection& connection, service::HoldChange::Kind kind) {
  Exchange& exchange = connection.TakeExchange();
  exchange.redemption.BeginHolds(kind, connection.front_end().settings().keys);
  const Args named = args.subspan(1);
  if (named.size() % 2 != 0 || named.size() / 2 > store::kMaxChecksPerCall) {
    connection.Refuse(exchange, "name the rule and the id of each hold, 64 holds at most");
    return;
  }
  for (std::size_t i = 0; i < named.size(); i += 2) {
    if (!exchange.redemption.AddHold(named[i], named[i + 1])) {
      connection.Refuse(exchange, "rule and id must come from the answer to a check");
      return;
    }
  }
  connection.Ask(exchange, WriteHolds);
}

bool ReadUnits(std::string_view text, Units& units) {
  return wire::ReadRespNumber(text, units) && units >= 0 && units <= kMaxUnits;
}

// What is wrong with the costs behind the reservation; an empty text: they were read.
std::string_view ReadCosts(Args args, Redemption& charges) {
  constexpr std::string_view kUsage =
      "give the actual cost: attribute=n for rules that count an attribute, then COST n";
  std::size_t at = 2;
  for (; at < args.size(); ++at) {
    const std::size_t equals = args[at].find('=');
    if (equals == std::string_view::npos || equals == 0) {
      break;
    }
    Units units = 0;
    if (!ReadUnits(args[at].substr(equals + 1), units)) {
      return "an attribute's cost must be a whole number from 0 to 999999999999999";
    }
    charges.CostsOf(args[at].substr(0, equals), args[at].substr(equals + 1));
  }
  if (at == args.size()) {
    return at > 2 ? std::string_view() : kUsage;
  }
  if (at + 2 != args.size() || !wire::EqualsIgnoreCase(args[at], "cost")) {
    return kUsage;
  }
  Units units = 0;
  if (!ReadUnits(args[at + 1], units)) {
    return kCostFault;
  }
  charges.CostsInAll(units);
  return {};
}

}  // namespace

void RunRelease(Args args, Connection& connection) {
  RunHolds(args, connection, service::HoldChange::Kind::kRelease);
}

void RunRenew(Args args, Connection& connection) {
  RunHolds(args, connection, service::HoldChange::Kind::kRenew);
}

void RunSettle(Args args, Connection& connection) {
  Exchange& exchange = connection.TakeExchange();
  exchange.redemption.BeginCharges(ChargeKind::kReservation,
                                   connection.front_end().settings().keys);
  std::string_view fault = ReadCosts(args, exchange.redemption);
  if (fault.empty() && !exchange.redemption.ReadCharges(args[1])) {
    fault = "the reservation must come from the answer to a check";
  }
  if (!fault.empty()) {
    connection.Refuse(exchange, fault);
    return;
  }
  connection.Ask(exchange, WriteCharges);
}

bool IsRefundOfReceipt(Args args) {
  return args.size() == 3 && wire::EqualsIgnoreCase(args[1], "receipt") &&
         args[2].find('=') == std::string_view::npos;
}

void RunRefundOfReceipt(Args args, Connection& connection) {
  Exchange& exchange = connection.TakeExchange();
  exchange.redemption.BeginCharges(ChargeKind::kReceipt, connection.front_end().settings().keys);
  if (!exchange.redemption.ReadCharges(args[2])) {
    connection.Refuse(exchange, "the receipt must come from the answer to a check");
    return;
  }
  connection.Ask(exchange, WriteCharges);
}

}  // namespace sluice::frontend::resp
