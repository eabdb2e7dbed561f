#pragma once

#include <string>
#include <string_view>

#include "control/change_error.h"
#include "frontend/redeemed.h"
#include "wire/scalar_object.h"

// Problem details (RFC 9457): how every error of HTTP itself reads, as
// application/problem+json. A denial is no problem but an answer: see answer.h.
namespace sluice::frontend::http {

inline constexpr std::string_view kProblemType = "application/problem+json";

struct Problem {
  int status = 400;
  std::string_view title;   // "" is the status phrase.
  std::string_view detail;  // What is wrong and what to do, in a sentence.
  std::string_view code;    // For machines: "invalid_cost". "" where the status says it all.
  const wire::JsonProblem* place = nullptr;  // Where in the body, if there.
};

// What is wrong with a body, and where in it. A view of `problem`.
[[nodiscard]] Problem ProblemOf(const wire::JsonProblem& problem);

// What there is to say where something that was handed in was not carried out; `not_found` where it
// is none of ours or over. Not of kDone.
[[nodiscard]] Problem ProblemOf(Redeemed outcome, const Problem& not_found);

// Under which status and code a refused change of rules or modes is answered. A view of `error`.
[[nodiscard]] Problem ProblemOf(const control::ChangeError& error);

// Appends {"type": "about:blank", "title", "status", "detail", "code", "position": {"offset",
// "line", "column"}}. Texts may hold anything a client sent: they are escaped.
void AppendProblem(const Problem& problem, std::string& out);

}  // namespace sluice::frontend::http
