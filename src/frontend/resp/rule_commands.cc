#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "frontend/resp/commands.h"
#include "frontend/resp/connection.h"
#include "frontend/resp/front_end.h"
#include "frontend/resp/replies.h"
#include "wire/ascii.h"
#include "wire/scalar_object.h"

namespace sluice::frontend::resp {

namespace {

// What may follow the attributes. An attribute has a '=' in it, an option has none.
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

// Reads the attributes of `args`, which begin with the rule, into the operation, and which rule it
// is: "" for *. An empty text: they were read; else what is wrong.
std::string_view ReadNamed(Args args, service::Operation& operation, std::string_view& only_rule) {
  constexpr std::size_t kMostAttributes = 64;  // As many as a check over HTTP may have.
  constexpr wire::ScalarObjectLimits kLimits;
  if (args.size() > kMostAttributes + 1) {
    return "a request may have at most 64 attributes";
  }
  if (args.front().empty()) {
    return "name a rule, or * for all that apply";
  }
  only_rule = args.front() == "*" ? std::string_view() : operation.arena.Keep(args.front());
  std::vector<Attribute>& attributes = operation.attributes;
  for (const std::string_view arg : args.subspan(1)) {
    const std::size_t equals = arg.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return "attributes are written name=value; options follow them";
    }
    const std::string_view name = arg.substr(0, equals);
    if (std::ranges::any_of(attributes, [name](const Attribute& a) { return a.name == name; })) {
      return "an attribute is given twice";
    }
    if (name.size() > kLimits.name_bytes || arg.size() - equals - 1 > kLimits.value_bytes) {
      return "an attribute's name may have at most 256 bytes and its value 1024";
    }
    const std::string_view kept = operation.arena.Keep(arg);
    attributes.push_back({.name = kept.substr(0, equals), .value = kept.substr(equals + 1)});
  }
  return {};
}

void WriteVerdict(Exchange& exchange, std::string& out) {
  wire::RespWriter writer = exchange.WriterTo(out);
  service::Verdict& verdict = exchange.operation.Get<service::RuleCheck>().verdict;
  if (!verdict.request_error.empty()) {
    writer.Error("ERR", verdict.request_error);
    return;
  }
  const FrontEnd& front_end = exchange.connection().front_end();
  if (verdict.now == WallInstant{}) {
    verdict.now = front_end.WallClockNow();  // No store was asked.
  }
  AppendVerdict(verdict,
                {.receipt = exchange.receipt,
                 .reservation = exchange.reserve,
                 .keys = front_end.settings().keys},
                writer);
}

void WriteChange(Exchange& exchange, std::string& out) {
  wire::RespWriter writer = exchange.WriterTo(out);
  const auto& change = exchange.operation.Get<service::KeyChange>();
  if (!change.request_error.empty()) {
    writer.Error("ERR", change.request_error);
  } else if (change.error == store::StoreError::kUnsupported) {
    writer.Error(
        "ERR",
        "a concurrency rule has holds instead of a counter: release them, or name other rules");
  } else if (change.error != store::StoreError::kNone) {
    writer.Error("SHED", "the store did not answer: the change may or may not have been made");
  } else {
    writer.Integer(static_cast<std::int64_t>(change.touched));
  }
}

void RunVerdict(Args args, Connection& connection, bool status) {
  Options options;
  std::string_view fault = ReadOptions(args, status ? Allow::kCost : Allow::kAll, options);
  Exchange& exchange = connection.TakeExchange();
  auto& check = exchange.operation.Ask<service::RuleCheck>();
  if (fault.empty()) {
    fault = ReadNamed(args, exchange.operation, check.only_rule);
  }
  if (!fault.empty()) {
    connection.Refuse(exchange, fault);
    return;
  }
  check.attributes = exchange.operation.attributes;
  check.cost = options.cost;
  check.peek = options.peek || status;
  check.want_receipts = options.receipt || options.reserve;
  check.absent_cost = status ? rules::AbsentCost::kIsTheCalls : rules::AbsentCost::kIsAnError;
  exchange.receipt = options.receipt;
  exchange.reserve = options.reserve;
  connection.Ask(exchange, WriteVerdict);
}

void RunChange(Args args, Connection& connection, service::KeyChange::Kind kind) {
  const bool refund = kind == service::KeyChange::Kind::kRefund;
  Options options;
  std::string_view fault = ReadOptions(args, refund ? Allow::kCost : Allow::kNothing, options);
  Exchange& exchange = connection.TakeExchange();
  auto& change = exchange.operation.Ask<service::KeyChange>();
  if (fault.empty()) {
    fault = ReadNamed(args, exchange.operation, change.only_rule);
  }
  if (!fault.empty()) {
    connection.Refuse(exchange, fault);
    return;
  }
  change.kind = kind;
  change.attributes = exchange.operation.attributes;
  change.units = options.cost.units;
  connection.Ask(exchange, WriteChange);
}

}  // namespace

void RunCheck(Args args, Connection& connection) {
  RunVerdict(args, connection, /*status=*/false);
}

void RunStatus(Args args, Connection& connection) {
  RunVerdict(args, connection, /*status=*/true);
}

void RunReset(Args args, Connection& connection) {
  RunChange(args, connection, service::KeyChange::Kind::kReset);
}

void RunRefund(Args args, Connection& connection) {
  RunChange(args, connection, service::KeyChange::Kind::kRefund);
}

bool MayOperate(Connection& connection) {
  const FrontEndSettings& settings = connection.front_end().settings();
  return settings.password != nullptr || settings.clients_have_certificates ||
         connection.session().on_this_host;
}

}  // namespace sluice::frontend::resp
