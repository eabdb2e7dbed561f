#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "replay/html_parts.h"
#include "replay/html_style.h"
#include "replay/human_text.h"
#include "replay/replay_report.h"

namespace sluice::replay {

namespace {

using Appender = std::back_insert_iterator<std::string>;

constexpr std::string_view kLegend =
    "<p class=\"legend\"><span><i class=\"allowed\"></i>allowed</span><span><i "
    "class=\"denied\"></i>"
    "denied</span>";

// The summary in one sentence.
std::string Meaning(const ReplayReport& report) {
  if (report.requests == 0) {
    return "The logs have no request that could be judged.";
  }
  if (report.rules.size() == 1) {
    const RuleReport& rule = report.rules.front();
    if (rule.requests == 0) {
      return "The rule applies to none of the " + Grouped(report.requests) + " requests.";
    }
    if (rule.denied == 0) {
      return fmt::format("The rule would have denied nothing: all {} requests of {} keys pass.",
                         Grouped(rule.requests), Grouped(rule.keys));
    }
    return fmt::format(
        "The rule would have denied {} of {} requests ({}), from {} of {} keys ({}).",
        Grouped(rule.denied), Grouped(rule.requests), Percent(rule.denied, rule.requests),
        Grouped(rule.keys_denied), Grouped(rule.keys), Percent(rule.keys_denied, rule.keys));
  }
  const auto in_shadow = std::ranges::count(report.rules, rules::Mode::kShadow, &RuleReport::mode);
  const std::string shadows =
      in_shadow == 0 ? ""
                     : fmt::format(" {} of the {} rules {} in shadow mode and not counted here.",
                                   in_shadow, report.rules.size(), in_shadow == 1 ? "is" : "are");
  if (report.denied == 0) {
    return "The enforced rules would have denied none of the " + Grouped(report.requests) +
           " requests." + shadows;
  }
  return fmt::format("Together the enforced rules would have denied {} of {} requests ({}).{}",
                     Grouped(report.denied), Grouped(report.requests),
                     Percent(report.denied, report.requests), shadows);
}

void AppendMeta(std::string& html, std::string_view name, std::string_view value) {
  if (!value.empty()) {
    fmt::format_to(Appender(html), "<div><dt>{}</dt><dd>{}</dd></div>\n", name, value);
  }
}

void AppendFigure(std::string& html, std::string_view number, std::string_view what,
                  std::string_view more, bool bad = false) {
  fmt::format_to(Appender(html),
                 "<div class=\"figure\"><b{}>{}</b><span>{}</span><span class=\"soft "
                 "small\">{}</span></div>\n",
                 bad ? " class=\"bad\"" : "", number, what, more);
}

void AppendLogs(std::string& html, const ReplayReport& report) {
  html +=
      "<details><summary>The logs</summary><div class=\"scroll\"><table>\n<tr><th>log</th>"
      "<th>format</th><th>requests</th><th>bad lines</th><th>too late</th><th>out of order by up to"
      "</th></tr>\n";
  for (const logs::LogSummary& log : report.logs) {
    fmt::format_to(Appender(html),
                   "<tr><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                   "<td>{}{}</td></tr>\n",
                   HtmlText(log.name), HtmlText(log.format), Grouped(log.requests),
                   Grouped(log.bad), Grouped(log.late), SpanText(log.put_right),
                   log.sorted ? ", sorted" : "");
  }
  html += "</table></div>\n";
  for (const logs::BadLine& bad : report.bad_lines) {
    fmt::format_to(Appender(html), "<p class=\"soft small\">{}, line {}: {}</p>\n",
                   HtmlText(bad.file), bad.line, HtmlText(bad.why));
  }
  html += "</details>\n";
}

void AppendKeyLists(std::string& html, const RuleReport& rule) {
  if (!rule.most_denied.empty()) {
    fmt::format_to(Appender(html), "<h3>Who would be hit</h3>\n{}</p>\n{}", kLegend,
                   KeyList(rule, rule.most_denied));
  }
  if (rule.busiest.empty()) {
    return;
  }
  if (rule.most_denied.empty()) {
    fmt::format_to(Appender(html), "<h3>The busiest keys</h3>\n{}", KeyList(rule, rule.busiest));
  } else {
    fmt::format_to(Appender(html), "<details><summary>The busiest keys</summary>\n{}</details>\n",
                   KeyList(rule, rule.busiest));
  }
}

void AppendRates(std::string& html, const RuleReport& rule) {
  if (rule.quantiles.empty()) {
    return;
  }
  fmt::format_to(Appender(html),
                 "<h3>How close keys come to the limit</h3>\n<p class=\"soft small\">Keys by the "
                 "share of their limit that they reached (each key's {}). The bars are "
                 "logarithmic; red keys were denied.</p>\n{}<p class=\"soft small\">",
                 rule.measure, RatesChart(rule.rates));
  for (const RuleReport::Quantile& quantile : rule.quantiles) {
    fmt::format_to(Appender(html), "{}{} {}", &quantile == &rule.quantiles.front() ? "" : " · ",
                   ShareOfKeys(quantile.share_ppm), Grouped(quantile.peak));
  }
  html += "</p>\n";
}

std::uint64_t WrongOf(const Errors& errors) {
  return errors.wrongly_allowed + errors.wrongly_denied;
}

void AppendErrorCells(std::string& html, const Errors& errors) {
  for (const std::uint64_t wrong : {errors.wrongly_allowed, errors.wrongly_denied}) {
    fmt::format_to(Appender(html), "<td{}>{}</td>", wrong == 0 ? "" : " class=\"bad\"",
                   Grouped(wrong));
  }
}

// The main figure: how many decisions of this rule's algorithm were wrong, and which algorithm
// makes the most wrong ones.
void AppendComparisonFigure(std::string& html, const RuleReport& rule) {
  const auto own = std::ranges::find(rule.comparison, true, &ComparisonRow::own);
  const auto worst = std::ranges::max_element(
      rule.comparison, {}, [](const ComparisonRow& row) { return WrongOf(row.own_admissions); });
  if (own == rule.comparison.end()) {
    return;
  }
  const std::uint64_t wrong = WrongOf(own->own_admissions);
  html += "<div class=\"figures\">\n";
  AppendFigure(html, Grouped(wrong),
               fmt::format("wrong decision{} of {} by this rule", wrong == 1 ? "" : "s",
                           Grouped(own->requests)),
               worst == own ? std::string("no algorithm makes more")
                            : fmt::format("{} makes {}", HtmlText(worst->name),
                                          Grouped(WrongOf(worst->own_admissions))),
               wrong != 0);
  html += "</div>\n";
}

void AppendComparison(std::string& html, const RuleReport& rule) {
  if (rule.comparison.empty()) {
    return;
  }
  fmt::format_to(Appender(html),
                 "<h3>Every algorithm at this limit</h3>\n<p class=\"soft small\">A decision is "
                 "wrong if it breaks “at most {}”: a request was allowed that should have been "
                 "denied, or the other way round.</p>\n",
                 rule.limit_per_window);
  AppendComparisonFigure(html, rule);
  html +=
      "<div class=\"scroll\"><table>\n<tr><th>algorithm</th><th>requests denied</th>"
      "<th>wrongly allowed</th><th>wrongly denied</th></tr>\n";
  for (const ComparisonRow& row : rule.comparison) {
    fmt::format_to(Appender(html), "<tr{}><td>{}{}</td><td>{}</td>",
                   row.own ? " class=\"own\"" : "", HtmlText(row.name),
                   row.own ? " (this rule)" : "", Grouped(row.denied));
    AppendErrorCells(html, row.own_admissions);
    html += "</tr>\n";
  }
  html +=
      "</table></div>\n<details><summary>By two other definitions</summary><p class=\"soft small\">"
      "<b>All counted</b>: the limit counts every request, denied ones included. <b>As a "
      "counter</b>: so does the algorithm.</p>\n<div class=\"scroll\"><table>\n<tr><th></th>"
      "<th colspan=\"2\">all counted</th><th colspan=\"2\">as a counter</th></tr>\n"
      "<tr><th>algorithm</th><th>wrongly allowed</th><th>wrongly denied</th><th>wrongly "
      "allowed</th><th>wrongly denied</th></tr>\n";
  for (const ComparisonRow& row : rule.comparison) {
    fmt::format_to(Appender(html), "<tr{}><td>{}</td>", row.own ? " class=\"own\"" : "",
                   HtmlText(row.name));
    AppendErrorCells(html, row.everything);
    if (row.as_counter) {
      AppendErrorCells(html, *row.as_counter);
    } else {
      html += "<td>–</td><td>–</td>";
    }
    html += "</tr>\n";
  }
  html += "</table></div></details>\n";
}

void AppendRule(std::string& html, const RuleReport& rule) {
  fmt::format_to(Appender(html),
                 "<section class=\"rule\">\n<h2>{}{}</h2>\n<p class=\"soft\">{} for each "
                 "<code>{}</code>, by {}</p>\n",
                 HtmlText(rule.id),
                 rule.mode == rules::Mode::kShadow
                     ? " <span class=\"tag\">shadow: decides, denies nothing</span>"
                     : "",
                 HtmlText(rule.quota), HtmlText(rule.key_pattern), HtmlText(rule.algorithm));
  if (rule.requests == 0) {
    fmt::format_to(Appender(html), "<p>It applied to no request{}.</p>\n</section>\n",
                   rule.skipped == 0 ? "" : "; " + Grouped(rule.skipped) + " lacked its key");
    return;
  }
  html += "<div class=\"figures\">\n";
  AppendFigure(html, Percent(rule.denied, rule.requests), "of requests denied",
               Grouped(rule.denied) + " of " + Grouped(rule.requests), rule.denied != 0);
  AppendFigure(html, Percent(rule.keys_denied, rule.keys), "of keys affected",
               Grouped(rule.keys_denied) + " of " + Grouped(rule.keys), rule.keys_denied != 0);
  if (rule.delayed != 0) {
    AppendFigure(html, Percent(rule.delayed, rule.requests), "of requests delayed",
                 "by " + SpanText(rule.longest_wait) + " at most");
  }
  if (rule.skipped != 0) {
    AppendFigure(html, Grouped(rule.skipped), "requests lack the key", "and were not judged");
  }
  fmt::format_to(Appender(html), "</div>\n<h3>When</h3>\n{}<span>each bar is {}</span></p>\n{}",
                 kLegend, WindowText(rule.timeline.step()), TimelineChart(rule.timeline));
  AppendKeyLists(html, rule);
  AppendRates(html, rule);
  AppendComparison(html, rule);
  html += "</section>\n";
}

}  // namespace

std::string ReportHtml(const ReplayReport& report) {
  std::string html(kHtmlHead);
  fmt::format_to(Appender(html),
                 "<h1>What these rules would have done</h1>\n<p class=\"meaning\">{}</p>\n",
                 Meaning(report));
  html += "<dl class=\"meta\">\n";
  AppendMeta(html, "rules", HtmlText(report.rule_files));
  if (report.requests != 0) {
    AppendMeta(html, "requests from",
               fmt::format("{} to {} UTC ({})", InstantText(report.first), InstantText(report.last),
                           SpanText(report.last - report.first)));
  }
  if (report.unmatched != 0) {
    AppendMeta(html, "without a rule", Grouped(report.unmatched));
  }
  if (report.today != WallInstant::max()) {
    AppendMeta(html, "made", InstantText(report.today) + " UTC");
  }
  AppendMeta(html, "by", report.version.empty() ? "" : "sluice " + HtmlText(report.version));
  html += "</dl>\n";
  if (report.spread) {
    fmt::format_to(Appender(html), "<p class=\"note\">{}</p>\n", HtmlText(kSpreadText));
  }
  for (const std::string& warning : report.warnings) {
    fmt::format_to(Appender(html), "<p class=\"note\">{}</p>\n", HtmlText(warning));
  }
  for (const RuleReport& rule : report.rules) {
    AppendRule(html, rule);
  }
  AppendLogs(html, report);
  html += "<footer>Made by sluice replay. All times are UTC.</footer>\n";
  html += "</main></body></html>\n";
  return html;
}

}  // namespace sluice::replay
