#include "wire/json_problem.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::wire {

std::string_view FaultName(JsonFault fault) {
  switch (fault) {
    case JsonFault::kSyntax:
      return "invalid_json";
    case JsonFault::kNoObject:
      return "not_an_object";
    case JsonFault::kNested:
      return "nested_value";
    case JsonFault::kDuplicate:
      return "duplicate_member";
    case JsonFault::kTooMany:
      return "too_many_members";
    case JsonFault::kTooLong:
      return "member_too_long";
    case JsonFault::kWrongType:
      return "wrong_type";
    case JsonFault::kCost:
      return "invalid_cost";
  }
  return "invalid_json";
}

JsonProblem ProblemAt(std::string_view json, std::size_t offset, JsonFault fault,
                      std::string_view text, std::string_view member) {
  const std::string_view before = json.substr(0, std::min(offset, json.size()));
  const std::size_t line_feed = before.rfind('\n');
  const std::size_t column =
      line_feed == std::string_view::npos ? before.size() : before.size() - line_feed - 1;
  JsonProblem problem;
  problem.fault = fault;
  problem.member = member;
  problem.offset = before.size();
  problem.line = 1 + static_cast<int>(std::ranges::count(before, '\n'));
  problem.column = 1 + static_cast<int>(column);
  problem.message = fmt::format("{} (line {}, column {})", text, problem.line, problem.column);
  return problem;
}

}  // namespace sluice::wire
