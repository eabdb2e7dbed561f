#include "wire/problem.h"

namespace sluice::wire {

void AppendProblemMembers(JsonWriter& json, const Problem& problem) {
  json.Name("type").Text(problem.type.empty() ? "about:blank" : problem.type);
  if (!problem.title.empty()) {
    json.Name("title").Text(problem.title);
  }
  if (problem.status != 0) {
    json.Name("status").Number(problem.status);
  }
  if (!problem.detail.empty()) {
    json.Name("detail").Text(problem.detail);
  }
  if (!problem.code.empty()) {
    json.Name("code").Text(problem.code);
  }
  if (!problem.violated_policies.empty()) {
    json.Name("violated-policies").BeginArray();
    for (const std::string_view policy : problem.violated_policies) {
      json.Text(policy);
    }
    json.EndArray();
  }
}

void AppendProblem(std::string& out, const Problem& problem) {
  JsonWriter json(out);
  json.BeginObject();
  AppendProblemMembers(json, problem);
  json.EndObject();
}

}  // namespace sluice::wire
