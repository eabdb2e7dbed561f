#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/http/handlers.h"
#include "records/decision_json.h"
#include "records/record_collector.h"
#include "wire/json_writer.h"
#include "wire/scalar_object.h"

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

constexpr std::int64_t kLongestTrace = 86'400;  // Seconds.
constexpr std::int64_t kMostTraces = 1'000;     // A second.
constexpr std::string_view kTraceBody =
    R"(the body is {"per_second": 1 to 1000, "seconds": 1 to 86400})";

// The number of a member, if it has this name and a value from 1 to `most`.
std::optional<std::int64_t> NumberIn(const wire::ScalarObject& object, std::string_view name,
                                     std::int64_t most) {
  for (const wire::JsonMember& member : object.members()) {
    const bool is_number = member.kind == wire::ScalarKind::kInteger ||
                           member.kind == wire::ScalarKind::kFraction;  // 10.0 is whole, too.
    std::int64_t value = 0;
    const char* const end = member.text.data() + member.text.size();
    if (member.name == name && is_number &&
        std::from_chars(member.text.data(), end, value).ptr == end && value >= 1 && value <= most) {
      return value;
    }
  }
  return std::nullopt;
}

// False, answered: the body asks for no trace.
bool StartTrace(std::string_view body, records::RecordCollector& collector, Exchange& exchange) {
  wire::ScalarObject object("");
  if (const auto read = object.Read(body); !read) {
    exchange.AnswerProblem(ProblemOf(read.error()));
    return false;
  }
  const auto per_second = NumberIn(object, "per_second", kMostTraces);
  const auto seconds = NumberIn(object, "seconds", kLongestTrace);
  if (!per_second || !seconds || object.members().size() != 2) {
    exchange.AnswerProblem(
        {.status = 400, .title = {}, .detail = kTraceBody, .code = "invalid_body"});
    return false;
  }
  collector.SetTrace({.per_second = static_cast<std::uint32_t>(*per_second),
                      .left = std::chrono::seconds(*seconds)});
  return true;
}

}  // namespace

void HandleTrace(const Routed& routed) {
  records::RecordCollector& collector = routed.at.settings.context->decisions;
  Exchange& exchange = routed.exchange;
  if (routed.request.method == wire::HttpMethod::kDelete) {
    collector.SetTrace({});
  } else if (routed.request.method == wire::HttpMethod::kPut &&
             !StartTrace(routed.request.body, collector, exchange)) {
    return;
  }
  const records::RecordCollector::Trace trace = collector.trace();
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("per_second").Number(trace.per_second);
  json.Name("seconds_left");
  if (trace.left == Duration::max()) {
    json.Null();
  } else {
    json.Number(std::chrono::ceil<std::chrono::seconds>(trace.left).count());
  }
  json.EndObject();
  exchange.AnswerText(200, "application/json", body);
}

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
