#pragma once

#include <span>
#include <string>
#include <string_view>

#include "wire/json_writer.h"

namespace sluice::wire {

inline constexpr std::string_view kProblemMediaType = "application/problem+json";

// Problem details (RFC 9457). Empty members are left out; an empty type means about:blank.
struct Problem {
  std::string_view type{};
  std::string_view title{};
  int status = 0;
  std::string_view detail{};
  std::string_view code{};  // Sluice's own, for machines: invalid_cost.
  std::span<const std::string_view> violated_policies{};
};

// Appends the members to an object that the caller has begun, so that it can have more members.
void AppendProblemMembers(JsonWriter& json, const Problem& problem);

// Appends the whole object.
void AppendProblem(std::string& out, const Problem& problem);

}  // namespace sluice::wire
