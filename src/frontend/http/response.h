#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/change_error.h"
#include "frontend/redemption.h"
#include "wire/scalar_object.h"
#include "wire/text_appender.h"

namespace sluice::frontend::http {

inline constexpr std::string_view kProblemType = "application/problem+json";

// Problem details (RFC 9457): how every error of HTTP itself reads, as application/problem+json. A
// denial is no problem but an answer: see answer.h.
struct Problem {
  int status = 400;
  std::string_view title;   // "" is the status phrase.
  std::string_view detail;  // What is wrong and what to do, in a sentence.
  std::string_view code;    // For machines: "invalid_cost". "" where the status says it all.
  const wire::JsonProblem* place = nullptr;  // Where in the body, if there.
};

// What is wrong with a body, and where in it. A view of `problem`.
[[nodiscard]] Problem ProblemOf(const wire::JsonProblem& problem);

// The problem for a token that could not be redeemed; `not_found` if it is unknown or has expired.
// Not of kDone.
[[nodiscard]] Problem ProblemOf(Redeemed outcome, const Problem& not_found);

// Under which status and code a refused change of rules or modes is answered. A view of `error`.
[[nodiscard]] Problem ProblemOf(const control::ChangeError& error);

// Appends {"type": "about:blank", "title", "status", "detail", "code", "position": {"offset",
// "line", "column"}}. Texts may hold anything a client sent: they are escaped.
void AppendProblem(const Problem& problem, std::string& out);

// What a request is answered with. Reused from request to request, with the room of its texts.
struct Response {
  int status = 200;
  std::string_view content_type;  // "": there is no body. A text that does not go.
  std::string fields;             // Header lines, beside those that every response has.
  std::string body;
  bool raw = false;  // `body` is sent unchanged and is not a separate response: 100 Continue.

  void Clear() {
    fields.clear();
    body.clear();
    raw = false;
  }
  // Appends one header line. `value` is our own text: no line breaks.
  void Add(std::string_view name, std::string_view value) {
    fields.append(name).append(": ").append(value).append("\r\n");
  }
  void Add(std::string_view name, std::int64_t value) { Add(name, wire::Decimal(value).view()); }
  // What must not be cached.
  void SetProblem(const Problem& problem);
  void SetText(int status_code, std::string_view type, std::string_view text);
};

}  // namespace sluice::frontend::http
