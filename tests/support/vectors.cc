#include "support/vectors.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

namespace sluice::support {

namespace {

using boost::json::object;
using boost::json::value;
using Verb = VectorStep::Verb;

std::int64_t Number(const object& line, std::string_view field, std::int64_t otherwise = 0) {
  const value* const found = line.if_contains(field);
  return found == nullptr ? otherwise : found->to_number<std::int64_t>();
}

bool Flag(const object& line, std::string_view field) {
  const value* const found = line.if_contains(field);
  return found != nullptr && found->as_bool();
}

std::string Text(const object& line, std::string_view field, std::string_view otherwise = "") {
  const value* const found = line.if_contains(field);
  return std::string(found == nullptr ? otherwise : std::string_view(found->as_string()));
}

const core::Calendar* CalendarOf(const object& fields, VectorCase& vectors) {
  auto calendar = core::Calendar::Create(*core::CalendarUnitNamed(Text(fields, "unit")),
                                         Text(fields, "zone"), Text(fields, "anchor"));
  return vectors.calendars.emplace_back(std::move(calendar).value()).get();
}

const core::Reserves* ReservesOf(const object& shares, VectorCase& vectors) {
  auto reserves = std::make_unique<core::Reserves>();
  for (const auto& [priority, percent] : shares) {
    reserves->Add(priority, percent.to_number<int>());
  }
  return vectors.reserves.emplace_back(std::move(reserves)).get();
}

core::Quota QuotaOf(const object& fields, VectorCase& vectors) {
  core::Quota quota{.algorithm = vectors.algorithm,
                    .unlimited = Flag(fields, "unlimited"),
                    .strict = Flag(fields, "strict"),
                    .shape = Flag(fields, "shape"),
                    .limit = Number(fields, "limit"),
                    .rate = Number(fields, "rate"),
                    .window = Duration(Number(fields, "window_ns"))};
  quota.segments = static_cast<std::uint8_t>(Number(fields, "segments", quota.segments));
  if (const value* const calendar = fields.if_contains("calendar")) {
    quota.calendar = CalendarOf(calendar->as_object(), vectors);
  }
  if (const value* const reserve = fields.if_contains("reserve")) {
    quota.reserves = ReservesOf(reserve->as_object(), vectors);
  }
  if (const auto fault = core::FaultOf(quota)) {
    throw std::runtime_error(vectors.name + ": " + *fault);
  }
  return quota;
}

Reason ReasonOf(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Reason>, 6> kReasons{
      {{"", Reason::kNone},
       {"quota_exceeded", Reason::kQuotaExceeded},
       {"cost_exceeds_capacity", Reason::kCostExceedsCapacity},
       {"limit_zero", Reason::kLimitZero},
       {"in_flight", Reason::kInFlight},
       {"reserved", Reason::kReserved}}};
  for (const auto& [text, reason] : kReasons) {
    if (text == name) {
      return reason;
    }
  }
  throw std::runtime_error("no reason: " + std::string(name));
}

Duration WaitOf(const object& line, std::string_view field) {
  const value* const found = line.if_contains(field);
  if (found == nullptr) {
    return {};
  }
  if (const auto* const word = found->if_string()) {
    return *word == "never" ? Decision::kNever : Decision::kUnknown;
  }
  return Duration(found->to_number<std::int64_t>());
}

Decision DecisionOf(const object& line, const core::Quota& quota) {
  const bool bounded = !line.at("remaining").is_null();
  return {.allowed = line.at("allowed").as_bool(),
          .reason = ReasonOf(Text(line, "reason")),
          .limit = bounded ? quota.limit : kUnlimited,
          .remaining = bounded ? Number(line, "remaining") : kUnlimited,
          .retry_after = WaitOf(line, "retry_after"),
          .reset_after = WaitOf(line, "reset_after"),
          .wait = WaitOf(line, "wait")};
}

VectorStep StepOf(const object& line, const core::Quota& quota) {
  static constexpr std::array<std::pair<std::string_view, Verb>, 8> kVerbs{
      {{"check", Verb::kCheck},
       {"peek", Verb::kPeek},
       {"refund", Verb::kRefund},
       {"settle", Verb::kSettle},
       {"reset", Verb::kReset},
       {"release", Verb::kRelease},
       {"renew", Verb::kRenew},
       {"step", Verb::kStep}}};
  const auto* const named =
      std::ranges::find_if(kVerbs, [&line](const auto& verb) { return line.contains(verb.first); });
  if (named == kVerbs.end()) {
    throw std::runtime_error("a line without a verb");
  }
  const auto [field, verb] = *named;
  VectorStep step{.at = Duration(Number(line, "at")), .verb = verb, .quota = quota};
  if (verb == Verb::kStep) {
    step.step = Duration(Number(line, field));
  } else if (verb == Verb::kRelease || verb == Verb::kRenew) {
    step.of = static_cast<std::size_t>(Number(line, field));
  } else if (verb != Verb::kReset) {
    step.units = Number(line, field);
  }
  if (verb == Verb::kCheck || verb == Verb::kPeek) {
    if (quota.reserves != nullptr) {
      step.quota.priority = quota.reserves->TagOf(Text(line, "priority"));
    }
    step.decision = DecisionOf(line, quota);
  }
  if (verb == Verb::kSettle) {
    step.of = static_cast<std::size_t>(Number(line, "of"));
    step.settled = Number(line, "settled");
  }
  step.found = Flag(line, "found");
  if (const value* const state = line.if_contains("state")) {
    step.changes_state = true;
    step.state = *state;
  }
  return step;
}

}  // namespace

bool VectorCase::Has(Verb verb) const {
  return std::ranges::find(steps, verb, &VectorStep::verb) != steps.end();
}

bool VectorCase::IsInWholeMicroseconds() const {
  const auto is_whole = [](Duration time) { return time.count() % 1'000 == 0; };
  return is_whole(start.time_since_epoch()) &&
         std::ranges::all_of(steps, is_whole, &VectorStep::at);
}

std::string VectorCase::PlaceOf(const VectorStep& step) const {
  return std::string(NameOf(algorithm)) + ".jsonl:" + std::to_string(step.line) + " (" + name + ")";
}

std::vector<VectorCase> ReadVectors(core::Algorithm algorithm) {
  const std::string path = std::string(SLUICE_VECTORS "/").append(NameOf(algorithm)) + ".jsonl";
  std::ifstream file(path);
  std::vector<VectorCase> cases;
  core::Quota quota;
  int number = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    const value parsed = boost::json::parse(text);
    const object& line = parsed.as_object();
    if (line.contains("case")) {
      VectorCase& added = cases.emplace_back();
      added.name = Text(line, "case");
      added.algorithm = algorithm;
      added.start = WallInstant(Duration(Number(line, "start")));
      added.clocks = static_cast<int>(Number(line, "clocks"));
    }
    if (const value* const fields = line.if_contains("quota")) {
      quota = QuotaOf(fields->as_object(), cases.back());
    } else {
      cases.back().steps.push_back(StepOf(line, quota));
      cases.back().steps.back().line = number;
    }
  }
  if (cases.empty()) {
    throw std::runtime_error(path + " has no vectors");
  }
  return cases;
}

}  // namespace sluice::support
