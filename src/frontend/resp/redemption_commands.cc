#include "frontend/resp/redemption_commands.h"

#include <cstddef>
#include <string_view>

#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "frontend/resp/redemption_exchange.h"
#include "wire/ascii.h"
#include "wire/resp_number.h"

namespace sluice::frontend::resp {

namespace {

constexpr std::string_view kCostFault = "COST must be a whole number from 0 to 999999999999999";

void Refuse(std::string_view fault, RedemptionExchange& exchange, Connection& connection) {
  exchange.Return();
  connection.Reply().Error("ERR", fault);
}

void RunHolds(Args args, Connection& connection, bool renew) {
  RedemptionExchange& exchange = connection.TakeRedemptionExchange();
  HoldRedemption& holds = exchange.StartHolds(connection.front_end(), renew);
  const Args named = args.subspan(1);
  if (named.size() % 2 != 0 || named.size() / 2 > store::kMaxChecksPerCall) {
    Refuse("name the rule and the id of each hold, 64 holds at most", exchange, connection);
    return;
  }
  for (std::size_t i = 0; i < named.size(); i += 2) {
    if (!holds.Add(named[i], named[i + 1])) {
      Refuse("rule and id must come from the answer to a check", exchange, connection);
      return;
    }
  }
  connection.AskRedemption(exchange);
}

bool ReadUnits(std::string_view text, Units& units) {
  return wire::ReadRespNumber(text, units) && units >= 0 && units <= kMaxUnits;
}

// What is wrong with the costs behind the reservation; an empty text: they were read.
std::string_view ReadCosts(Args args, ChargeRedemption& charges) {
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
  RunHolds(args, connection, /*renew=*/false);
}

void RunRenew(Args args, Connection& connection) {
  RunHolds(args, connection, /*renew=*/true);
}

void RunSettle(Args args, Connection& connection) {
  RedemptionExchange& exchange = connection.TakeRedemptionExchange();
  ChargeRedemption& charges =
      exchange.StartCharges(connection.front_end(), ChargeKind::kReservation);
  std::string_view fault = ReadCosts(args, charges);
  if (fault.empty() && !charges.Read(args[1])) {
    fault = "the reservation must come from the answer to a check";
  }
  if (!fault.empty()) {
    Refuse(fault, exchange, connection);
    return;
  }
  connection.AskRedemption(exchange);
}

bool IsRefundOfReceipt(Args args) {
  return args.size() == 3 && wire::EqualsIgnoreCase(args[1], "receipt") &&
         args[2].find('=') == std::string_view::npos;
}

void RunRefundOfReceipt(Args args, Connection& connection) {
  RedemptionExchange& exchange = connection.TakeRedemptionExchange();
  ChargeRedemption& charges = exchange.StartCharges(connection.front_end(), ChargeKind::kReceipt);
  if (!charges.Read(args[2])) {
    Refuse("the receipt must come from the answer to a check", exchange, connection);
    return;
  }
  connection.AskRedemption(exchange);
}

}  // namespace sluice::frontend::resp
