#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/http/handlers.h"
#include "records/decision_json.h"
#include "records/record_collector.h"
#include "wire/json_writer.h"

// What operators read of decisions: the last ones.
namespace sluice::frontend::http {

namespace {

constexpr std::size_t kMostListed = 1'000;

// Takes the query's members, which the filter views. "", or what is wrong.
std::string_view ReadFilter(wire::FormQuery& query, records::DecisionFilter& filter) {
  if (const auto count = query.Remove("n")) {
    const char* const end = count->data() + count->size();
    const auto [stop, error] = std::from_chars(count->data(), end, filter.most);
    if (error != std::errc() || stop != end || filter.most == 0 || filter.most > kMostListed) {
      return "n must be a whole number from 1 to 1000";
    }
  }
  for (const Attribute& member : query.attributes()) {
    if (member.name == "rule") {
      filter.rule = member.value;
    } else if (member.name == "request_id") {
      filter.request_id = member.value;
    } else if (member.name == "key") {
      filter.key = member.value;
    } else if (member.name == "outcome") {
      filter.outcome = member.value;
    } else {
      return "the query may have rule, request_id, key, outcome and n";
    }
  }
  return {};
}

}  // namespace

void HandleDecisions(const Routed& routed) {
  Exchange& exchange = routed.exchange;
  wire::FormQuery& query = exchange.context.query;
  query.Clear();
  records::DecisionFilter filter;
  std::string_view wrong;
  if (const auto read = query.AddQuery(routed.request.query); !read) {
    wrong = read.error();
  } else {
    wrong = ReadFilter(query, filter);
  }
  if (!wrong.empty()) {
    exchange.AnswerProblem({.status = 400, .title = {}, .detail = wrong, .code = "invalid_query"});
    return;
  }
  records::RecordCollector& collector = routed.at.settings.context->decisions;
  collector.Collect();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("kept").Number(static_cast<std::int64_t>(collector.history().size()));
  json.Name("decisions").BeginArray();
  std::string one;
  collector.history().ForEach(filter, [&](const insight::KeptRequest& request) {
    one.clear();
    records::AppendDecision(request, one);
    json.Raw(one);
  });
  json.EndArray().EndObject();
  exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
