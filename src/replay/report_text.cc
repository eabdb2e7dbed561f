#include "replay/report_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "replay/human_text.h"

namespace sluice::replay {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kKeyWidth = 28;

// A text from a log, fit for a terminal: no control bytes, not longer than its column.
std::string Shown(std::string_view text, std::size_t width) {
  std::string shown;
  for (const char c : text.substr(0, width)) {
    shown += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  }
  if (text.size() > width) {
    shown.resize(width - 2);
    shown += "..";
  }
  return shown;
}

// Eight heights; a step with anything in it is never empty.
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
  const auto steps = rule.timeline.In(std::max<std::size_t>(width, 40) - 14);
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
  fmt::format_to(Out(text),
                 "\n             from {}, a column is {}; at most {} allowed, {} denied\n",
                 InstantText(rule.timeline.begin()), WindowText(step),
                 most_of(&Timeline::Step::allowed), most_of(&Timeline::Step::denied));
}

void AppendKeys(std::string& text, std::string_view title, const RuleReport& rule,
                const std::vector<KeyLine>& keys) {
  if (keys.empty()) {
    return;
  }
  fmt::format_to(Out(text), "\n  {:<{}} {:>10} {:>10} {:>8}", title, kKeyWidth, "requests",
                 "denied", "share");
  if (rule.has_peaks) {
    fmt::format_to(Out(text), " {:>14}", "most in " + rule.window);
  }
  text += "  denied from, to\n";
  for (const KeyLine& key : keys) {
    fmt::format_to(Out(text), "  {:<{}} {:>10} {:>10} {:>8}", Shown(key.key, kKeyWidth), kKeyWidth,
                   Grouped(key.requests), Grouped(key.denied), Percent(key.denied, key.requests));
    if (rule.has_peaks) {
      fmt::format_to(Out(text), " {:>14}", Grouped(key.peak));
    }
    if (key.denied != 0) {
      fmt::format_to(Out(text), "  {}, {}", InstantText(key.first_denied),
                     InstantText(key.last_denied));
    }
    text += '\n';
  }
}

void AppendRates(std::string& text, const RuleReport& rule) {
  if (rule.quantiles.empty()) {
    return;
  }
  fmt::format_to(Out(text), "\n  A key's most in {}:", rule.window);
  for (const RuleReport::Quantile& quantile : rule.quantiles) {
    fmt::format_to(
        Out(text), " {}{} {}", &quantile == &rule.quantiles.front() ? "" : "| ",
        quantile.share == 1 ? "the highest" : fmt::format("{:g} % up to", quantile.share * 100),
        Grouped(quantile.peak));
  }
  text += "\n\n  share of the limit                keys\n";
  std::uint64_t most = 1;
  for (const RateBin& bin : rule.rates) {
    most = std::max(most, bin.keys);
  }
  int from = 0;
  for (const RateBin& bin : rule.rates) {
    const std::string range = bin.up_to_percent == 0
                                  ? fmt::format("over {} %", from)
                                  : fmt::format("{} to {} %", from, bin.up_to_percent);
    from = bin.up_to_percent;
    if (bin.keys == 0) {
      continue;
    }
    fmt::format_to(Out(text), "  {:<26} {:>11}  ", range, Grouped(bin.keys));
    for (std::uint64_t i = 0; i < 1 + (29 * bin.keys / most); ++i) {
      text += "▪";
    }
    text += '\n';
  }
}

void AppendErrors(std::string& text, const Errors& errors) {
  fmt::format_to(Out(text), " {:>9} {:>9}", Grouped(errors.wrongly_allowed),
                 Grouped(errors.wrongly_denied));
}

void AppendComparison(std::string& text, const RuleReport& rule) {
  if (rule.comparison.empty()) {
    return;
  }
  fmt::format_to(
      Out(text),
      "\n  Wrong decisions of every algorithm at this limit, by three definitions of the limit\n"
      "  ({} requests; > is this rule; definitions: docs/accuracy.md)\n"
      "  {:<36} {:>9} {:>19} {:>19} {:>19}\n",
      Grouped(rule.comparison.front().requests), "", "", "own admissions", "all counted",
      "as a counter");
  fmt::format_to(Out(text), "  {:<36} {:>9}", "", "denied");
  for (int i = 0; i < 3; ++i) {
    fmt::format_to(Out(text), " {:>9} {:>9}", "allowed", "denied");
  }
  text += '\n';
  for (const ComparisonRow& row : rule.comparison) {
    fmt::format_to(Out(text), "{} {:<36} {:>9}", row.own ? " >" : "  ", Shown(row.name, 36),
                   Grouped(row.denied));
    text.erase(text.size() - 10 - 36 - 1, 1);  // The mark takes the blank's place.
    AppendErrors(text, row.own_admissions);
    AppendErrors(text, row.everything);
    if (row.as_counter) {
      AppendErrors(text, *row.as_counter);
    } else {
      fmt::format_to(Out(text), " {:>9} {:>9}", "-", "-");
    }
    text += '\n';
  }
}

void AppendRule(std::string& text, const RuleReport& rule, std::size_t width) {
  fmt::format_to(Out(text), "\nRule {}: {}, {}, key {}{}\n", rule.id, rule.algorithm, rule.quota,
                 rule.key_pattern, rule.mode == rules::Mode::kShadow ? ", shadow" : "");
  if (rule.requests == 0) {
    fmt::format_to(
        Out(text), "  applied to no request{}\n",
        rule.skipped == 0 ? std::string() : "; " + Grouped(rule.skipped) + " lacked its key");
    return;
  }
  fmt::format_to(Out(text), "  would have denied {} of {} requests ({}), of {} of {} keys ({})\n",
                 Grouped(rule.denied), Grouped(rule.requests), Percent(rule.denied, rule.requests),
                 Grouped(rule.keys_denied), Grouped(rule.keys),
                 Percent(rule.keys_denied, rule.keys));
  if (rule.skipped != 0) {
    fmt::format_to(Out(text), "  {} more requests lacked its key and were not judged\n",
                   Grouped(rule.skipped));
  }
  if (rule.delayed != 0) {
    fmt::format_to(Out(text), "  would have delayed {} requests ({}), by {} at most\n",
                   Grouped(rule.delayed), Percent(rule.delayed, rule.requests),
                   SpanText(rule.longest_wait));
  }
  AppendTimeline(text, rule, width);
  AppendKeys(text, "most denied", rule, rule.most_denied);
  AppendKeys(text, "busiest", rule, rule.busiest);
  AppendRates(text, rule);
  AppendComparison(text, rule);
}

}  // namespace

std::string LogsText(const ReplayReport& report) {
  std::string text;
  for (const logs::LogSummary& log : report.logs) {
    fmt::format_to(Out(text), "{}: {} requests, {}", log.name, Grouped(log.requests), log.format);
    if (log.bad != 0) {
      fmt::format_to(Out(text), ", {} bad line{}", Grouped(log.bad), log.bad == 1 ? "" : "s");
    }
    if (log.sorted) {
      fmt::format_to(Out(text), ", sorted: lines were up to {} out of order",
                     SpanText(log.put_right));
    } else if (log.put_right > Duration{}) {
      fmt::format_to(Out(text), ", lines up to {} out of order were sorted",
                     SpanText(log.put_right));
    }
    text += '\n';
  }
  for (const logs::BadLine& bad : report.bad_lines) {
    fmt::format_to(Out(text), "  {}:{}: {}\n", bad.file, bad.line, Shown(bad.why, 200));
  }
  if (report.requests != 0) {
    fmt::format_to(Out(text), "{} to {} UTC, {}\n", InstantText(report.first),
                   InstantText(report.last), SpanText(report.last - report.first));
  }
  for (const std::string& warning : report.warnings) {
    fmt::format_to(Out(text), "warning: {}\n", Shown(warning, 400));
  }
  return text;
}

std::string ReportText(const ReplayReport& report, std::size_t width) {
  std::string text = LogsText(report);
  if (report.rules.size() > 1) {
    fmt::format_to(
        Out(text), "\nTogether the enforced rules would have denied {} of {} requests ({})",
        Grouped(report.denied), Grouped(report.requests), Percent(report.denied, report.requests));
    if (report.unmatched != 0) {
      fmt::format_to(Out(text), "; no rule applied to {}", Grouped(report.unmatched));
    }
    text += '\n';
  }
  for (const RuleReport& rule : report.rules) {
    AppendRule(text, rule, width);
  }
  return text;
}

}  // namespace sluice::replay
