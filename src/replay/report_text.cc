#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "replay/human_text.h"
#include "replay/replay_report.h"

namespace sluice::replay {

namespace {

using Out = std::back_insert_iterator<std::string>;

// The minimum width of a terminal for a report.
constexpr std::size_t kLeastWidth = 40;

// Eight heights; a step with any request is never empty.
void Bars(std::string& text, const std::vector<Timeline::Step>& steps,
          std::uint64_t Timeline::Step::* height) {
  constexpr std::array<std::string_view, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::uint64_t most = 1;
  for (const Timeline::Step& step : steps) {
    most = std::max(most, step.*height);
  }
  for (const Timeline::Step& step : steps) {
    const std::uint64_t value = step.*height;
    text += kBars[value == 0 ? 0 : 1 + (7 * value / most)];
  }
}

void AppendTimeline(std::string& text, const RuleReport& rule, std::size_t width) {
  const auto steps = rule.timeline.In(width - 13);
  if (steps.size() < 2) {
    return;
  }
  const std::size_t each = (rule.timeline.steps().size() + steps.size() - 1) / steps.size();
  const auto step = rule.timeline.step() * static_cast<std::int64_t>(each);
  const auto most_of = [&steps](std::uint64_t Timeline::Step::* which) {
    std::uint64_t most = 0;
    for (const Timeline::Step& one : steps) {
      most = std::max(most, one.*which);
    }
    return Grouped(most);
  };
  text += "  allowed    ";
  Bars(text, steps, &Timeline::Step::allowed);
  text += "\n  denied     ";
  Bars(text, steps, &Timeline::Step::denied);
  text += '\n';
  AppendWrapped(text,
                fmt::format("from {}, a column is {}; at most {} allowed, {} denied",
                            InstantText(rule.timeline.begin()), WindowText(step),
                            most_of(&Timeline::Step::allowed), most_of(&Timeline::Step::denied)),
                width, 13);
}

void AppendKeys(std::string& text, std::string_view title, const RuleReport& rule,
                const std::vector<KeyLine>& keys, std::size_t width) {
  if (keys.empty()) {
    return;
  }
  std::vector<std::string> headings{std::string(title), "requests", "denied", "share"};
  if (rule.has_peaks) {
    headings.push_back(rule.measure);
  }
  TextTable table(std::move(headings));
  for (const KeyLine& key : keys) {
    std::vector<std::string> cells{key.key.empty() ? "(all)" : key.key, Grouped(key.requests),
                                   Grouped(key.denied), Percent(key.denied, key.requests)};
    if (rule.has_peaks) {
      cells.push_back(Grouped(key.peak));
    }
    table.AddRow(std::move(cells),
                 key.denied == 0 ? std::string()
                                 : fmt::format("denied {} to {}", InstantText(key.first_denied),
                                               InstantText(key.last_denied)));
  }
  text += '\n';
  table.AppendTo(text, width);
}

// "50 % up to 1 | 90 % up to 4 | the highest 50".
std::string QuantilesText(const RuleReport& rule) {
  std::string text;
  for (const RuleReport::Quantile& quantile : rule.quantiles) {
    fmt::format_to(Out(text), "{}{} {}", text.empty() ? "" : " | ", ShareOfKeys(quantile.share_ppm),
                   Grouped(quantile.peak));
  }
  return text;
}

void AppendRates(std::string& text, const RuleReport& rule, std::size_t width) {
  if (rule.quantiles.empty()) {
    return;
  }
  text += '\n';
  AppendWrapped(text, fmt::format("A key's {}: {}", rule.measure, QuantilesText(rule)), width, 2,
                2);
  text += "\n  share of the limit         keys\n";
  std::uint64_t most = 1;
  for (const RateBin& bin : rule.rates) {
    most = std::max(most, bin.keys);
  }
  const std::uint64_t longest = std::min<std::uint64_t>(30, width - 36);
  int from = 0;
  for (const RateBin& bin : rule.rates) {
    const std::string range = bin.up_to_percent == 0
                                  ? fmt::format("over {} %", from)
                                  : fmt::format("{} to {} %", from, bin.up_to_percent);
    from = bin.up_to_percent;
    if (bin.keys == 0) {
      continue;
    }
    fmt::format_to(Out(text), "  {:<19} {:>11}  ", range, Grouped(bin.keys));
    for (std::uint64_t i = 0; i < 1 + ((longest - 1) * bin.keys / most); ++i) {
      text += "▪";
    }
    text += '\n';
  }
}

// "sliding_window/8 strict" for "sliding_window, 8 segments, strict", and so on, to fit into a
// table.
std::string ShortName(std::string_view name) {
  constexpr std::string_view kSegments = " segments";
  std::string text(name);
  if (const std::size_t end = text.find(kSegments); end != text.npos) {
    text.erase(end, kSegments.size());
    text.replace(text.find(", "), 2, "/");
    if (const std::size_t more = text.find(", "); more != text.npos) {
      text.erase(more, 1);
    }
  } else if (const std::size_t equals = text.find(" = gcra"); equals != text.npos) {
    text = "token_bucket, gcra";
  }
  return text;
}

void AppendComparison(std::string& text, const RuleReport& rule, std::size_t width) {
  if (rule.comparison.empty()) {
    return;
  }
  text += '\n';
  AppendWrapped(text,
                fmt::format("Every algorithm at this limit, on the same {} requests (> is this "
                            "rule), and how many of its decisions were wrong, by three definitions "
                            "of \"at most {}\":",
                            Grouped(rule.comparison.front().requests), rule.limit_per_window),
                width, 2);
  for (const std::string_view line :
       {"own: what the algorithm itself allowed counts, as it promises",
        "all: every request counts, denied ones included",
        "est: the same, if the algorithm counts denied requests too (its estimate alone)",
        "+ wrongly allowed, - wrongly denied; a bucket's burst is the limit, if not named"}) {
    AppendWrapped(text, line, width, 4, 5);
  }
  TextTable table({"", "denied", "own +", "own -", "all +", "all -", "est +", "est -"});
  for (const ComparisonRow& row : rule.comparison) {
    std::vector<std::string> cells{(row.own ? "> " : "  ") + ShortName(row.name),
                                   Grouped(row.denied)};
    for (const Errors* errors : {&row.own_admissions, &row.everything}) {
      cells.push_back(Grouped(errors->wrongly_allowed));
      cells.push_back(Grouped(errors->wrongly_denied));
    }
    cells.push_back(row.as_counter ? Grouped(row.as_counter->wrongly_allowed) : "-");
    cells.push_back(row.as_counter ? Grouped(row.as_counter->wrongly_denied) : "-");
    table.AddRow(std::move(cells));
  }
  text += '\n';
  table.AppendTo(text, width);
}

void AppendRule(std::string& text, const RuleReport& rule, std::size_t width) {
  text += '\n';
  AppendWrapped(text,
                fmt::format("Rule {}: {}, {}, key {}{}", rule.id, rule.algorithm, rule.quota,
                            rule.key_pattern, rule.mode == rules::Mode::kShadow ? ", shadow" : ""),
                width, 0, 2);
  if (rule.requests == 0) {
    AppendWrapped(
        text,
        "applied to no request" +
            (rule.skipped == 0 ? std::string() : "; " + Grouped(rule.skipped) + " lacked its key"),
        width, 2, 2);
    return;
  }
  AppendWrapped(text,
                fmt::format("would have denied {} of {} requests ({}), of {} of {} keys ({})",
                            Grouped(rule.denied), Grouped(rule.requests),
                            Percent(rule.denied, rule.requests), Grouped(rule.keys_denied),
                            Grouped(rule.keys), Percent(rule.keys_denied, rule.keys)),
                width, 2, 2);
  if (rule.skipped != 0) {
    AppendWrapped(text, Grouped(rule.skipped) + " more requests lacked its key and were not judged",
                  width, 2, 2);
  }
  if (rule.delayed != 0) {
    AppendWrapped(
        text,
        fmt::format("would have delayed {} requests ({}), by {} at most", Grouped(rule.delayed),
                    Percent(rule.delayed, rule.requests), SpanText(rule.longest_wait)),
        width, 2, 2);
  }
  AppendTimeline(text, rule, width);
  AppendKeys(text, "most denied", rule, rule.most_denied, width);
  AppendKeys(text, "busiest", rule, rule.busiest, width);
  AppendRates(text, rule, width);
  AppendComparison(text, rule, width);
}

}  // namespace

std::string LogsText(const ReplayReport& report, std::size_t asked_width) {
  const std::size_t width = std::max(asked_width, kLeastWidth);
  std::string text;
  for (const logs::LogSummary& log : report.logs) {
    std::string line =
        fmt::format("{}: {} requests, {}", log.name, Grouped(log.requests), log.format);
    if (log.bad != 0) {
      fmt::format_to(Out(line), ", {} bad line{}", Grouped(log.bad), log.bad == 1 ? "" : "s");
    }
    if (log.sorted) {
      fmt::format_to(Out(line), ", sorted: lines were up to {} out of order",
                     SpanText(log.put_right));
    } else if (log.put_right > Duration{}) {
      fmt::format_to(Out(line), ", lines up to {} out of order were sorted",
                     SpanText(log.put_right));
    }
    AppendWrapped(text, line, width, 0, 2);
  }
  for (const logs::BadLine& bad : report.bad_lines) {
    AppendWrapped(text, fmt::format("{}:{}: {}", bad.file, bad.line, bad.why), width, 2, 2);
  }
  if (report.requests != 0) {
    AppendWrapped(text,
                  fmt::format("{} to {} UTC, {}", InstantText(report.first),
                              InstantText(report.last), SpanText(report.last - report.first)),
                  width, 0, 2);
  }
  if (report.spread) {
    AppendWrapped(text, kSpreadText, width, 0, 2);
  }
  for (const std::string& warning : report.warnings) {
    AppendWrapped(text, "warning: " + warning, width, 0, 2);
  }
  return text;
}

std::string ReportText(const ReplayReport& report, std::size_t asked_width) {
  const std::size_t width = std::max(asked_width, kLeastWidth);
  std::string text = LogsText(report, width);
  if (report.rules.size() > 1) {
    std::string line = fmt::format(
        "Together the enforced rules would have denied {} of {} requests ({})",
        Grouped(report.denied), Grouped(report.requests), Percent(report.denied, report.requests));
    if (report.unmatched != 0) {
      fmt::format_to(Out(line), "; no rule applied to {}", Grouped(report.unmatched));
    }
    text += '\n';
    AppendWrapped(text, line, width, 0, 2);
  }
  for (const RuleReport& rule : report.rules) {
    AppendRule(text, rule, width);
  }
  return text;
}

}  // namespace sluice::replay
