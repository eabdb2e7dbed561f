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

// Problem details (RFC 9457): the form of every error of HTTP itself, as application/problem+json.
// A denial is no problem but an answer: see answer.h.
struct Problem {
  int status = 400;
  std::string_view title;   // "" is the status phrase.
  std::string_view detail;  // The fault and its remedy, in a sentence.
  std::string_view code;    // For programs: "invalid_cost". "" if the status is enough.
  const wire::JsonProblem* place = nullptr;  // The position in the body, if it is there.
};

// The fault of a body, and its position. A view of `problem`.
[[nodiscard]] Problem ProblemOf(const wire::JsonProblem& problem);

// The problem for a token that could not be redeemed; `not_found` if it is unknown or has expired.
// Not of kDone.
[[nodiscard]] Problem ProblemOf(Redeemed outcome, const Problem& not_found);

// The status and code for a refused change of rules or modes. A view of `error`.
[[nodiscard]] Problem ProblemOf(const control::ChangeError& error);

// Appends {"type": "about:blank", "title", "status", "detail", "code", "position": {"offset",
// "line", "column"}}. Texts may hold anything a client sent: they are escaped.
void AppendProblem(const Problem& problem, std::string& out);

// The ETag of a text, with its quotes: FNV-1a, 64 bits. It distinguishes versions of one text, and
// keeps no secret.
[[nodiscard]] std::string EntityTag(std::string_view text);

// The answer to a request. Reused from request to request, with the memory of its texts.
struct Response {
  int status = 200;
  std::string_view content_type;  // "": no body. A static text.
  std::string fields;             // Header lines besides those that every response has.
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
  // For answers that must not be cached.
  void SetProblem(const Problem& problem);
  void SetText(int status_code, std::string_view type, std::string_view text);
};

}  // namespace sluice::frontend::http
