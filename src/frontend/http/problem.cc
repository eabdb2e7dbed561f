#include "frontend/http/problem.h"

#include <cstdint>

#include "frontend/http/numbers.h"
#include "wire/http1_response.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

void AppendProblem(const Problem& problem, std::string& out) {
  out += R"({"type": "about:blank", "title": )";
  wire::AppendJsonString(
      out, problem.title.empty() ? wire::StatusPhrase(problem.status) : problem.title);
  out += ", \"status\": ";
  AppendNumber(out, problem.status);
  out += ", \"detail\": ";
  wire::AppendJsonString(out, problem.detail);
  if (!problem.code.empty()) {
    out += ", \"code\": ";
    wire::AppendJsonString(out, problem.code);
  }
  if (problem.place != nullptr) {
    out += ", \"position\": {\"offset\": ";
    AppendNumber(out, static_cast<std::int64_t>(problem.place->offset));
    out += ", \"line\": ";
    AppendNumber(out, problem.place->line);
    out += ", \"column\": ";
    AppendNumber(out, problem.place->column);
    out += '}';
  }
  out += '}';
}

}  // namespace sluice::frontend::http
