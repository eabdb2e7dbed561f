#include "frontend/resp/rule_commands.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "wire/ascii.h"
#include "wire/resp_number.h"

namespace sluice::frontend::resp {

namespace {

// What may stand behind the attributes. An attribute has a '=' in it, an option has none.
struct Options {
  Cost cost;
  bool peek = false;
  bool receipt = false;
  bool reserve = false;
};
enum class Allow : std::uint8_t { kNothing, kCost, kAll };

// Takes the options off the end of `args`, which then are the rule and the attributes. An empty
// text: they were read; else what is wrong.
std::string_view ReadOptions(Args& args, Allow allow, Options& options) {
  std::size_t at = 2;
  while (at < args.size() && args[at].find('=') != std::string_view::npos) {
    ++at;
  }
  const Args given = args.subspan(at);
  args = args.subspan(1, at - 1);
  bool has_cost = false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (allow == Allow::kAll && wire::EqualsIgnoreCase(given[i], "peek")) {
      options.peek = true;
    } else if (allow == Allow::kAll && wire::EqualsIgnoreCase(given[i], "receipt")) {
      options.receipt = true;
    } else if (allow == Allow::kAll && wire::EqualsIgnoreCase(given[i], "reserve")) {
      options.reserve = true;
    } else if (allow != Allow::kNothing && !has_cost && i + 1 < given.size() &&
               wire::EqualsIgnoreCase(given[i], "cost")) {
      has_cost = true;
      ++i;
      if (!wire::ReadRespNumber(given[i], options.cost.units) || options.cost.units < 0 ||
          options.cost.units > kMaxUnits) {
        return "COST must be a whole number from 0 to 999999999999999";
      }
    } else {
      switch (allow) {
        case Allow::kNothing:
          return "attributes are written name=value, and there are no options";
        case Allow::kCost:
          return "attributes are written name=value; then COST n may follow";
        case Allow::kAll:
          return "attributes are written name=value; then COST n, PEEK, RECEIPT and RESERVE may "
                 "follow";
      }
    }
  }
  return {};
}

void RunVerdict(Args args, Connection& connection, bool status) {
  Options options;
  std::string_view fault = ReadOptions(args, status ? Allow::kCost : Allow::kAll, options);
  VerdictExchange& exchange = connection.TakeVerdictExchange();
  if (fault.empty()) {
    fault = exchange.named.Read(args);
  }
  if (!fault.empty()) {
    exchange.Return();
    connection.Reply().Error("ERR", fault);
    return;
  }
  exchange.cost = options.cost;
  exchange.peek = options.peek || status;
  exchange.receipt = options.receipt;
  exchange.reserve = options.reserve;
  exchange.want_receipts = options.receipt || options.reserve;
  exchange.absent_cost = status ? rules::AbsentCost::kIsTheCalls : rules::AbsentCost::kIsAnError;
  connection.AskVerdict(exchange);
}

void RunOperation(Args args, Connection& connection, Connection::Operation operation) {
  const bool refund = operation == Connection::Operation::kRefund;
  Options options;
  std::string_view fault = ReadOptions(args, refund ? Allow::kCost : Allow::kNothing, options);
  OperatorExchange& exchange = connection.TakeOperatorExchange();
  if (fault.empty()) {
    fault = exchange.named.Read(args);
  }
  if (!fault.empty()) {
    exchange.Return();
    connection.Reply().Error("ERR", fault);
    return;
  }
  exchange.units = options.cost.units;
  connection.AskOperator(exchange, operation);
}

}  // namespace

void RunCheck(Args args, Connection& connection) {
  RunVerdict(args, connection, /*status=*/false);
}

void RunStatus(Args args, Connection& connection) {
  RunVerdict(args, connection, /*status=*/true);
}

void RunReset(Args args, Connection& connection) {
  RunOperation(args, connection, Connection::Operation::kReset);
}

void RunRefund(Args args, Connection& connection) {
  RunOperation(args, connection, Connection::Operation::kRefund);
}

bool MayOperate(Connection& connection) {
  const FrontEndSettings& settings = connection.front_end().settings();
  return settings.password != nullptr || settings.clients_have_certificates ||
         connection.session().on_this_host;
}

}  // namespace sluice::frontend::resp
