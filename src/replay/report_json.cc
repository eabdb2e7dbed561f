#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "replay/human_text.h"
#include "replay/replay_report.h"
#include "rules/rule.h"
#include "wire/json_writer.h"

namespace sluice::replay {

namespace {

using wire::JsonWriter;

void Count(JsonWriter& json, std::string_view name, std::uint64_t count) {
  json.Name(name).Number(static_cast<std::int64_t>(count));
}

void Millis(JsonWriter& json, std::string_view name, Duration duration) {
  json.Name(name).Number(std::chrono::ceil<std::chrono::milliseconds>(duration).count());
}

void Instant(JsonWriter& json, std::string_view name, WallInstant at) {
  std::string text = InstantText(at);
  text[10] = 'T';
  json.Name(name).Text(text + "Z");
}

void WriteLog(JsonWriter& json, const logs::LogSummary& log) {
  json.BeginObject();
  json.Name("name").Text(log.name);
  json.Name("format").Text(log.format);
  Count(json, "lines", log.lines);
  Count(json, "requests", log.requests);
  Count(json, "bad_lines", log.bad);
  Count(json, "late", log.late);
  Millis(json, "late_by_ms", log.latest);
  Millis(json, "put_right_ms", log.put_right);
  json.Name("sorted").Truth(log.sorted);
  json.Name("cut_off").Truth(log.cut_off.has_value());
  json.EndObject();
}

void WriteKeys(JsonWriter& json, std::string_view name, const RuleReport& rule,
               const std::vector<KeyLine>& keys) {
  json.Name(name).BeginArray();
  for (const KeyLine& key : keys) {
    json.BeginObject();
    json.Name("key").Text(key.key);
    Count(json, "requests", key.requests);
    Count(json, "denied", key.denied);
    if (rule.has_peaks) {
      json.Name("peak").Number(key.peak);
      json.Name("limit").Number(key.limit);
    }
    if (key.denied != 0) {
      Instant(json, "first_denied", key.first_denied);
      Instant(json, "last_denied", key.last_denied);
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteTimeline(JsonWriter& json, const Timeline& timeline) {
  json.Name("timeline").BeginObject();
  if (!timeline.steps().empty()) {
    Instant(json, "begin", timeline.begin());
  }
  json.Name("step_s").Number(timeline.step().count());
  const auto series = [&](std::string_view name, std::uint64_t Timeline::Step::* which) {
    json.Name(name).BeginArray();
    for (const Timeline::Step& step : timeline.steps()) {
      json.Number(static_cast<std::int64_t>(step.*which));
    }
    json.EndArray();
  };
  series("allowed", &Timeline::Step::allowed);
  series("denied", &Timeline::Step::denied);
  json.EndObject();
}

void WritePeaks(JsonWriter& json, const RuleReport& rule) {
  json.Name("key_peaks").BeginArray();
  for (const RuleReport::Quantile& quantile : rule.quantiles) {
    json.BeginObject();
    json.Name("share_ppm").Number(static_cast<std::int64_t>(quantile.share_ppm));
    json.Name("peak").Number(quantile.peak);
    json.EndObject();
  }
  json.EndArray();
  json.Name("key_rates").BeginArray();
  for (const RateBin& bin : rule.rates) {
    json.BeginObject();
    json.Name("up_to_percent");
    if (bin.up_to_percent == 0) {
      json.Null();
    } else {
      json.Number(bin.up_to_percent);
    }
    Count(json, "keys", bin.keys);
    json.EndObject();
  }
  json.EndArray();
}

void WriteErrors(JsonWriter& json, std::string_view name, const Errors& errors) {
  json.Name(name).BeginObject();
  Count(json, "wrongly_allowed", errors.wrongly_allowed);
  Count(json, "wrongly_denied", errors.wrongly_denied);
  json.EndObject();
}

void WriteComparison(JsonWriter& json, const std::vector<ComparisonRow>& rows) {
  json.Name("comparison").BeginArray();
  for (const ComparisonRow& row : rows) {
    json.BeginObject();
    json.Name("algorithm").Text(row.name);
    json.Name("own").Truth(row.own);
    Count(json, "requests", row.requests);
    Count(json, "denied", row.denied);
    WriteErrors(json, "against_own_admissions", row.own_admissions);
    WriteErrors(json, "against_everything", row.everything);
    if (row.as_counter) {
      WriteErrors(json, "as_counter", *row.as_counter);
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteRule(JsonWriter& json, const RuleReport& rule) {
  json.BeginObject();
  json.Name("name").Text(rule.id);
  json.Name("key_pattern").Text(rule.key_pattern);
  json.Name("algorithm").Text(rule.algorithm);
  json.Name("quota").Text(rule.quota);
  json.Name("mode").Text(rules::NameOf(rule.mode));
  Count(json, "requests", rule.requests);
  Count(json, "denied", rule.denied);
  Count(json, "skipped", rule.skipped);
  Count(json, "delayed", rule.delayed);
  Millis(json, "longest_wait_ms", rule.longest_wait);
  Count(json, "keys", rule.keys);
  Count(json, "keys_denied", rule.keys_denied);
  WriteTimeline(json, rule.timeline);
  WriteKeys(json, "most_denied", rule, rule.most_denied);
  WriteKeys(json, "busiest", rule, rule.busiest);
  if (rule.has_peaks) {
    WritePeaks(json, rule);
  }
  if (!rule.comparison.empty()) {
    WriteComparison(json, rule.comparison);
  }
  json.EndObject();
}

}  // namespace

void WriteLogs(JsonWriter& json, const ReplayReport& report) {
  json.Name("logs").BeginArray();
  for (const logs::LogSummary& log : report.logs) {
    WriteLog(json, log);
  }
  json.EndArray();
  json.Name("bad_lines").BeginArray();
  for (const logs::BadLine& bad : report.bad_lines) {
    json.BeginObject();
    json.Name("log").Text(bad.file);
    Count(json, "line", bad.line);
    json.Name("error").Text(bad.why);
    json.EndObject();
  }
  json.EndArray();
  json.Name("warnings").BeginArray();
  for (const std::string& warning : report.warnings) {
    json.Text(warning);
  }
  json.EndArray();
}

std::string ReportJson(const ReplayReport& report) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  Count(json, "requests", report.requests);
  Count(json, "denied", report.denied);
  Count(json, "unmatched", report.unmatched);
  if (report.requests != 0) {
    Instant(json, "first", report.first);
    Instant(json, "last", report.last);
  }
  json.Name("spread").Truth(report.spread);
  WriteLogs(json, report);
  json.Name("rules").BeginArray();
  for (const RuleReport& rule : report.rules) {
    WriteRule(json, rule);
  }
  json.EndArray();
  json.EndObject();
  text += '\n';
  return text;
}

}  // namespace sluice::replay
