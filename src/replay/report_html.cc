#include "replay/report_html.h"

#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "replay/html_charts.h"
#include "replay/human_text.h"

namespace sluice::replay {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::string_view kHead = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice replay</title>
<style>
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --ink: #1d2430; --soft: #5c6675; --line: #dfe3e9;
  --allowed: #4a84c9; --denied: #d4472f; --note: #fff4d6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12161c; --card: #1b212a; --ink: #e6eaf0; --soft: #98a3b3; --line: #2f3846;
    --allowed: #5b95da; --denied: #ee6c53; --note: #3a3220;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 26px; margin: 8px 0 4px; }
h2 { font-size: 20px; margin: 0; }
h3 { font-size: 15px; margin: 28px 0 8px; }
p { margin: 4px 0; }
.soft { color: var(--soft); }
.note { background: var(--note); border-radius: 6px; padding: 8px 12px; margin: 8px 0; }
.figures { display: flex; flex-wrap: wrap; gap: 12px; margin: 16px 0; }
.figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 10px 16px; min-width: 150px; }
.rule .figure { background: var(--page); }
.figure b { display: block; font-size: 24px; font-weight: 650; }
.figure b.bad { color: var(--denied); }
.rule { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 20px; margin: 24px 0; }
.tag { font-size: 12px; border: 1px solid var(--line); border-radius: 10px; padding: 1px 8px;
  vertical-align: 3px; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 5px 10px; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { color: var(--soft); font-weight: 500; white-space: normal; vertical-align: bottom; }
th[colspan] { text-align: center; }
th:first-child, td:first-child { text-align: left; }
td.bad { color: var(--denied); }
tr.own td { font-weight: 650; }
svg { display: block; width: 100%; min-width: 640px; height: auto; }
svg text { font-size: 13px; fill: var(--soft); }
.allowed { fill: var(--allowed); } .denied { fill: var(--denied); }
.grid { stroke: var(--line); } .limit { stroke: var(--ink); stroke-dasharray: 5 4; }
.legend span { display: inline-block; margin-right: 18px; }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 2px; margin-right: 6px;
  vertical-align: -1px; }
details { margin: 8px 0; } summary { cursor: pointer; color: var(--soft); }
</style>
</head>
<body><main>
)html";

void Figure(std::string& html, std::string_view number, std::string_view what, bool bad = false) {
  fmt::format_to(Out(html), "<div class=\"figure\"><b{}>{}</b>{}</div>\n",
                 bad ? " class=\"bad\"" : "", number, what);
}

void AppendLogs(std::string& html, const ReplayReport& report) {
  html +=
      "<details><summary>The logs</summary><div "
      "class=\"scroll\"><table>\n<tr><th>log</th><th>format</th>"
      "<th>requests</th><th>bad lines</th><th>too late</th><th>sorted by up to</th></tr>\n";
  for (const logs::LogSummary& log : report.logs) {
    fmt::format_to(Out(html),
                   "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                   HtmlText(log.name), HtmlText(log.format), Grouped(log.requests),
                   Grouped(log.bad), Grouped(log.late), SpanText(log.put_right));
  }
  html += "</table></div>\n";
  for (const logs::BadLine& bad : report.bad_lines) {
    fmt::format_to(Out(html), "<p class=\"soft\">{}, line {}: {}</p>\n", HtmlText(bad.file),
                   bad.line, HtmlText(bad.why));
  }
  html += "</details>\n";
}

void AppendKeys(std::string& html, const RuleReport& rule, std::string_view title,
                const std::vector<KeyLine>& keys) {
  if (keys.empty()) {
    return;
  }
  fmt::format_to(Out(html), "<h3>{}</h3>\n{}", title, KeysChart(keys));
  html +=
      "<details><summary>As a table</summary><div class=\"scroll\"><table>\n"
      "<tr><th>key</th><th>requests</th><th>denied</th><th>share</th>";
  if (rule.has_peaks) {
    fmt::format_to(Out(html), "<th>most in {}</th><th>limit</th>", rule.window);
  }
  html += "<th>first denied</th><th>last denied</th></tr>\n";
  for (const KeyLine& key : keys) {
    fmt::format_to(Out(html), "<tr><td>{}</td><td>{}</td><td class=\"{}\">{}</td><td>{}</td>",
                   HtmlText(key.key), Grouped(key.requests), key.denied == 0 ? "" : "bad",
                   Grouped(key.denied), Percent(key.denied, key.requests));
    if (rule.has_peaks) {
      fmt::format_to(Out(html), "<td>{}</td><td>{}</td>", Grouped(key.peak), Grouped(key.limit));
    }
    fmt::format_to(Out(html), "<td>{}</td><td>{}</td></tr>\n",
                   key.denied == 0 ? "" : InstantText(key.first_denied),
                   key.denied == 0 ? "" : InstantText(key.last_denied));
  }
  html += "</table></div></details>\n";
}

void AppendRatesSection(std::string& html, const RuleReport& rule) {
  if (rule.quantiles.empty()) {
    return;
  }
  fmt::format_to(Out(html), "<h3>How much keys requested in {}</h3>\n{}<p class=\"soft\">",
                 rule.window, RatesChart(rule.rates));
  for (const RuleReport::Quantile& quantile : rule.quantiles) {
    fmt::format_to(
        Out(html), "{}{} {}", &quantile == &rule.quantiles.front() ? "" : " · ",
        quantile.share == 1 ? "the highest" : fmt::format("{:g} % up to", quantile.share * 100),
        Grouped(quantile.peak));
  }
  html += "</p>\n";
}

void AppendErrorCells(std::string& html, const Errors& errors) {
  fmt::format_to(
      Out(html), "<td{}>{}</td><td{}>{}</td>", errors.wrongly_allowed == 0 ? "" : " class=\"bad\"",
      Grouped(errors.wrongly_allowed), errors.wrongly_denied == 0 ? "" : " class=\"bad\"",
      Grouped(errors.wrongly_denied));
}

void AppendComparisonTable(std::string& html, const RuleReport& rule) {
  if (rule.comparison.empty()) {
    return;
  }
  html +=
      "<h3>Every algorithm at this limit</h3>\n"
      "<p class=\"soft\">Decisions that differ from the exact rule applied to what the algorithm "
      "itself "
      "admitted; from an exact count of all requests, denied ones included; and, where the "
      "algorithm counts all of them too, from that same count.</p>\n"
      "<div class=\"scroll\"><table>\n<tr><th></th><th></th><th colspan=\"2\">own admissions</th>"
      "<th colspan=\"2\">everything counted</th><th colspan=\"2\">as a counter</th></tr>\n"
      "<tr><th>algorithm</th><th>denied</th><th>wrongly allowed</th><th>wrongly denied</th>"
      "<th>wrongly allowed</th><th>wrongly denied</th><th>wrongly allowed</th>"
      "<th>wrongly denied</th></tr>\n";
  for (const ComparisonRow& row : rule.comparison) {
    fmt::format_to(Out(html), "<tr{}><td>{}{}</td><td>{}</td>", row.own ? " class=\"own\"" : "",
                   HtmlText(row.name), row.own ? " (this rule)" : "", Grouped(row.denied));
    AppendErrorCells(html, row.own_admissions);
    AppendErrorCells(html, row.everything);
    if (row.as_counter) {
      AppendErrorCells(html, *row.as_counter);
    } else {
      html += "<td>–</td><td>–</td>";
    }
    html += "</tr>\n";
  }
  html += "</table></div>\n";
}

void AppendRule(std::string& html, const RuleReport& rule) {
  fmt::format_to(Out(html),
                 "<section class=\"rule\">\n<h2>{}{}</h2>\n<p class=\"soft\">{}, {}, key "
                 "<code>{}</code></p>\n",
                 HtmlText(rule.id),
                 rule.mode == rules::Mode::kShadow ? " <span class=\"tag\">shadow</span>" : "",
                 rule.algorithm, HtmlText(rule.quota), HtmlText(rule.key_pattern));
  html += "<div class=\"figures\">\n";
  Figure(html, Percent(rule.denied, rule.requests),
         fmt::format("of requests denied<br><span class=\"soft\">{} of {}</span>",
                     Grouped(rule.denied), Grouped(rule.requests)),
         rule.denied != 0);
  Figure(html, Percent(rule.keys_denied, rule.keys),
         fmt::format("of keys affected<br><span class=\"soft\">{} of {}</span>",
                     Grouped(rule.keys_denied), Grouped(rule.keys)),
         rule.keys_denied != 0);
  if (rule.delayed != 0) {
    Figure(html, Percent(rule.delayed, rule.requests),
           fmt::format("of requests delayed<br><span class=\"soft\">by {} at most</span>",
                       SpanText(rule.longest_wait)));
  }
  if (rule.skipped != 0) {
    Figure(html, Grouped(rule.skipped), "lacked the key<br><span class=\"soft\">not judged</span>");
  }
  html += "</div>\n";
  if (rule.requests != 0) {
    fmt::format_to(Out(html),
                   "<h3>When</h3>\n{}<p class=\"legend soft\"><span><i class=\"allowed\" "
                   "style=\"background:var(--allowed)\"></i>allowed</span><span><i "
                   "style=\"background:var(--denied)\"></i>denied</span>a bar is {}</p>\n",
                   TimelineChart(rule.timeline), WindowText(rule.timeline.step()));
    AppendKeys(html, rule, "Most denied", rule.most_denied);
    AppendKeys(html, rule, "Busiest", rule.busiest);
    AppendRatesSection(html, rule);
    AppendComparisonTable(html, rule);
  }
  html += "</section>\n";
}

}  // namespace

std::string ReportHtml(const ReplayReport& report) {
  std::string html(kHead);
  fmt::format_to(Out(html), "<h1>What these rules would have done</h1>\n");
  if (report.requests != 0) {
    fmt::format_to(Out(html), "<p class=\"soft\">{} to {} UTC, {}</p>\n", InstantText(report.first),
                   InstantText(report.last), SpanText(report.last - report.first));
  }
  for (const std::string& warning : report.warnings) {
    fmt::format_to(Out(html), "<p class=\"note\">{}</p>\n", HtmlText(warning));
  }
  html += "<div class=\"figures\">\n";
  Figure(html, Grouped(report.requests), "requests");
  Figure(html, Grouped(report.denied),
         fmt::format("denied by the enforced rules<br><span class=\"soft\">{}</span>",
                     Percent(report.denied, report.requests)),
         report.denied != 0);
  if (report.unmatched != 0) {
    Figure(html, Grouped(report.unmatched), "that no rule applied to");
  }
  html += "</div>\n";
  AppendLogs(html, report);
  for (const RuleReport& rule : report.rules) {
    AppendRule(html, rule);
  }
  html += "<p class=\"soft\">Made by sluice replay. Times are UTC.</p>\n</main></body></html>\n";
  return html;
}

}  // namespace sluice::replay
