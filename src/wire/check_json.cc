#include "wire/check_json.h"

#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace sluice::wire {

namespace {

// The whole number that `fraction` writes as 2.0 or 2e3. nullopt if it is not a whole number or is
// out of range: the sender gets the same message for both.
std::optional<Units> WholeOf(std::string_view fraction) {
  double number = 0;
  const char* const end = fraction.data() + fraction.size();
  const auto [stop, error] = std::from_chars(fraction.data(), end, number);
  if (error != std::errc() || stop != end || std::trunc(number) != number || number < 0 ||
      number > static_cast<double>(kMaxUnits)) {
    return std::nullopt;
  }
  return static_cast<Units>(number);  // Exact: kMaxUnits is below 2^53.
}

}  // namespace

tl::expected<Cost, JsonProblem> CostOf(const JsonMember& member, std::string_view json) {
  if (member.kind == ScalarKind::kNull) {
    return Cost{};
  }
  const auto wrong = [&](std::string_view text) {
    return tl::unexpected(ProblemOf(member, json, JsonFault::kCost, text));
  };
  switch (member.kind) {
    case ScalarKind::kInteger:
      break;
    case ScalarKind::kFraction:
      if (const auto whole = WholeOf(member.text)) {
        return Cost{.units = *whole};
      }
      return wrong(fmt::format("`{}` must be a whole number", member.name));
    default:
      return wrong(fmt::format("`{}` must be a number", member.name));
  }
  if (member.text.starts_with('-')) {
    return wrong(fmt::format("`{}` must not be negative", member.name));
  }
  if (!member.fits || member.integer > kMaxUnits) {
    return wrong(fmt::format("`{}` must not be above {}", member.name, kMaxUnits));
  }
  return Cost{.units = member.integer};
}

tl::expected<std::string_view, JsonProblem> TextOf(const JsonMember& member,
                                                   std::string_view json) {
  const bool is_text = member.kind == ScalarKind::kText && !member.text.empty();
  if (!is_text && member.kind != ScalarKind::kNull) {
    return tl::unexpected(ProblemOf(member, json, JsonFault::kWrongType,
                                    fmt::format("`{}` must be text, not empty", member.name)));
  }
  return member.text;
}

tl::expected<bool, JsonProblem> TruthOf(const JsonMember& member, std::string_view json) {
  if (member.kind == ScalarKind::kNull) {
    return false;
  }
  if (member.kind != ScalarKind::kBoolean) {
    return tl::unexpected(ProblemOf(member, json, JsonFault::kWrongType,
                                    fmt::format("`{}` must be true or false", member.name)));
  }
  return member.integer != 0;
}

namespace {

// Where the value of this reserved word is stored.
bool& FlagNamed(CheckRequest& request, std::string_view name) {
  if (name == "peek") {
    return request.peek;
  }
  if (name == "wait") {
    return request.wait;
  }
  return name == "reserve" ? request.reserve : request.receipt;
}

}  // namespace

CheckJson::CheckJson() : object_("attributes", {"cost", "peek", "wait", "reserve", "receipt"}) {}

tl::expected<void, JsonProblem> CheckJson::Parse(std::string_view body) {
  request_.attributes.clear();
  request_.cost = Cost{};
  request_.peek = request_.wait = request_.reserve = request_.receipt = false;
  if (auto read = object_.Read(body); !read) {
    return read;
  }
  for (const JsonMember& member : object_.members()) {
    if (!member.reserved) {
      if (member.kind != ScalarKind::kNull) {
        request_.attributes.push_back({.name = member.name, .value = member.text});
      }
    } else if (member.name == "cost") {
      auto cost = CostOf(member, body);
      if (!cost) {
        return tl::unexpected(std::move(cost.error()));
      }
      request_.cost = *cost;
    } else {
      auto truth = TruthOf(member, body);
      if (!truth) {
        return tl::unexpected(std::move(truth.error()));
      }
      FlagNamed(request_, member.name) = *truth;
    }
  }
  return {};
}

}  // namespace sluice::wire
