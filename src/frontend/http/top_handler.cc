#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "frontend/http/handlers.h"
#include "insight/insight.h"
#include "insight/key_text.h"
#include "wire/json_writer.h"

// What operators read about keys: which of them count most.
namespace sluice::frontend::http {

namespace {

using insight::RuleTop;
using insight::TopKeys;
using insight::Window;

constexpr std::size_t kUsualKeys = 10;

std::string_view NameOfKind(std::size_t kind) {
  return kind == insight::kAllKinds ? "all" : insight::NameOf(static_cast<insight::Kind>(kind));
}

// "", or what is wrong.
std::string_view ReadTopQuery(wire::FormQuery& query, TopKeys::Query& read) {
  if (const auto rule = query.Remove("rule")) {
    read.rule = *rule;
  }
  if (const auto kind = query.Remove("kind")) {
    std::size_t found = 0;
    while (found <= insight::kAllKinds && NameOfKind(found) != *kind) {
      ++found;
    }
    if (found > insight::kAllKinds) {
      return "kind must be all, allowed, denied, banned or shadow";
    }
    read.kind = found;
  }
  if (const auto window = query.Remove("window")) {
    if (*window != "minute" && *window != "start") {
      return "window must be minute or start";
    }
    read.window = *window == "minute" ? Window::kMinute : Window::kStart;
  }
  if (const auto n = query.Remove("n")) {
    const auto [end, error] = std::from_chars(n->data(), n->data() + n->size(), read.most);
    if (error != std::errc() || end != n->data() + n->size() || read.most < 1 ||
        read.most > TopKeys::kMostRoom) {
      return "n must be a whole number from 1 to 128";
    }
  }
  return query.attributes().empty() ? ""
                                    : "the query has members other than rule, kind, window and n";
}

void AppendCount(std::string_view name, std::uint64_t count, wire::JsonWriter& json) {
  json.Name(name).Number(static_cast<std::int64_t>(count));
}

void AppendKey(const RuleTop::Key& key, std::uint64_t total, wire::JsonWriter& json) {
  const insight::HeavyKey& counted = key.counted;
  const insight::ReadKey read = insight::PartsOf(counted.key);
  json.BeginObject();
  json.Name("key").Text(insight::TextOf(read));
  if (!read.is_cut) {
    json.Name("attributes").BeginObject();
    for (const core::KeyPart& part : read.parts) {
      json.EscapedName(part.attribute).Text(part.value);
    }
    json.EndObject();
  }
  AppendCount("count", counted.count, json);
  AppendCount("at_least", counted.AtLeast(), json);
  AppendCount("at_most", counted.AtMost(), json);
  const double share = static_cast<double>(counted.count) / static_cast<double>(total);
  json.Name("share").Raw(fmt::format("{:.4f}", share < 1 ? share : 1.0));
  for (std::size_t kind = 0; kind < insight::kKinds; ++kind) {
    AppendCount(NameOfKind(kind), key.by_kind[kind], json);
  }
  json.Name("last").Number(
      std::chrono::floor<std::chrono::seconds>(counted.last.time_since_epoch()).count());
  json.EndObject();
}

void AppendRule(const RuleTop& rule, std::size_t kind, wire::JsonWriter& json) {
  json.BeginObject();
  json.Name("rule").Text(rule.rule);
  AppendCount("total", rule.totals[kind], json);
  json.Name("totals").BeginObject();
  for (std::size_t each = 0; each < insight::kKinds; ++each) {
    AppendCount(NameOfKind(each), rule.totals[each], json);
  }
  json.EndObject();
  AppendCount("others_at_most", rule.error, json);
  json.Name("keys").BeginArray();
  for (const RuleTop::Key& key : rule.keys) {
    AppendKey(key, rule.totals[kind], json);
  }
  json.EndArray().EndObject();
}

}  // namespace

void HandleTop(const Routed& routed) {
  Exchange& exchange = routed.exchange;
  wire::FormQuery& query = exchange.context.query;
  query.Clear();
  TopKeys::Query asked{.most = kUsualKeys};
  const auto parsed = query.AddQuery(routed.request.query);
  if (const std::string_view wrong = parsed ? ReadTopQuery(query, asked) : parsed.error();
      !wrong.empty()) {
    exchange.AnswerProblem({.status = 400, .title = {}, .detail = wrong, .code = "invalid_query"});
    return;
  }
  const insight::Insight::TopReading top = routed.at.settings.context->insight.Top(asked);
  std::string body;
  wire::JsonWriter json(body);
  json.BeginObject();
  json.Name("scope").Text("node");
  json.Name("kind").Text(NameOfKind(asked.kind));
  json.Name("window").Text(asked.window == Window::kMinute ? "minute" : "start");
  json.Name("window_ms").Number(top.covered / std::chrono::milliseconds(1));
  json.Name("now").Number(
      std::chrono::floor<std::chrono::seconds>(top.now.time_since_epoch()).count());
  json.Name("rules").BeginArray();
  for (const RuleTop& rule : top.rules) {
    AppendRule(rule, asked.kind, json);
  }
  json.EndArray().EndObject();
  exchange.AnswerText(200, "application/json", body);
}

}  // namespace sluice::frontend::http
