#include "frontend/http/response.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "wire/http1_response.h"
#include "wire/json_writer.h"

namespace sluice::frontend::http {

Problem ProblemOf(const wire::JsonProblem& problem) {
  return {.status = 400,
          .title = {},
          .detail = problem.message,
          .code = wire::FaultName(problem.fault),
          .place = &problem};
}

Problem ProblemOf(Redeemed outcome, const Problem& not_found) {
  switch (outcome) {
    case Redeemed::kUnsupported:
      return {.status = 501,
              .title = {},
              .detail = "the store in use does not support this",
              .code = "unsupported"};
    case Redeemed::kUnavailable:
      return {.status = 503,
              .title = {},
              .detail = "the store did not answer: try again",
              .code = "store_unavailable"};
    case Redeemed::kDone:
    case Redeemed::kNotFound:
      break;
  }
  return not_found;
}

Problem ProblemOf(const control::ChangeError& error) {
  const auto problem = [&error](int status, std::string_view code) {
    return Problem{.status = status, .title = {}, .detail = error.detail, .code = code};
  };
  switch (error.code) {
    case control::ErrorCode::kNotFound:
      return problem(404, "no_such_rule");
    case control::ErrorCode::kInvalidId:
      return problem(400, "invalid_rule_id");
    case control::ErrorCode::kMalformed:
      return problem(400, "invalid_json");
    case control::ErrorCode::kInvalid:
      break;
    case control::ErrorCode::kReadOnly:
      return problem(409, "not_from_the_api");
    case control::ErrorCode::kConflict:
      return problem(409, "changed");
    case control::ErrorCode::kNotActive:
      return problem(409, "not_in_force");
    case control::ErrorCode::kNotStored:
      return problem(503, "not_kept");
    case control::ErrorCode::kOutcomeUnknown:
      return problem(503, "outcome_unknown");
  }
  return problem(422, "invalid_rule");
}

std::string EntityTag(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return fmt::format("\"{:016x}\"", hash);
}

void AppendProblem(const Problem& problem, std::string& out) {
  out += R"({"type": "about:blank", "title": )";
  wire::AppendJsonString(
      out, problem.title.empty() ? wire::StatusPhrase(problem.status) : problem.title);
  out += ", \"status\": ";
  out += std::to_string(problem.status);
  out += ", \"detail\": ";
  wire::AppendJsonString(out, problem.detail);
  if (!problem.code.empty()) {
    out += ", \"code\": ";
    wire::AppendJsonString(out, problem.code);
  }
  if (problem.place != nullptr) {
    out += ", \"position\": {\"offset\": ";
    out += std::to_string(problem.place->offset);
    out += ", \"line\": ";
    out += std::to_string(problem.place->line);
    out += ", \"column\": ";
    out += std::to_string(problem.place->column);
    out += '}';
  }
  out += '}';
}

void Response::SetProblem(const Problem& problem) {
  status = problem.status;
  content_type = kProblemType;
  body.clear();
  AppendProblem(problem, body);
  Add("Cache-Control", "no-store");
}

void Response::SetText(int status_code, std::string_view type, std::string_view text) {
  status = status_code;
  content_type = type;
  body = text;
  Add("Cache-Control", "no-store");
}

}  // namespace sluice::frontend::http
