#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <date/date.h>
#include <fmt/format.h>

#include "replay/html_parts.h"
#include "replay/human_text.h"

namespace sluice::replay {

namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kMostTicks = 6;
constexpr double kHeight = 1000;  // Of the plot, in its own units.

// The smallest of 1, 2, 4, 6, 8, 10, 20, ... that is at least `value`: the end of an axis. All
// except 1 have a whole half.
std::uint64_t AxisEnd(std::uint64_t value) {
  for (std::uint64_t power = 1;; power *= 10) {
    for (const std::uint64_t step : {1, 2, 4, 6, 8}) {
      if (power * step >= value) {
        return power * step;
      }
    }
  }
}

// The shortest of some round durations of which at most kMostTicks fit into `seconds`.
std::int64_t TickStep(std::int64_t seconds) {
  constexpr std::array<std::int64_t, 19> kSteps{
      1,      2,      5,      15,   30,       60,       300,       900,       1'800,    3'600,
      10'800, 21'600, 43'200, kDay, 2 * kDay, 7 * kDay, 14 * kDay, 28 * kDay, 91 * kDay};
  for (const std::int64_t step : kSteps) {
    if (seconds / step <= kMostTicks) {
      return step;
    }
  }
  const std::int64_t year = 365 * kDay;
  return (seconds / kMostTicks / year + 1) * year;
}

// "10:05", "10:05:30", "17 Dec", "17 Dec 2025": enough to distinguish a tick from its neighbours.
std::string TickText(std::int64_t second, std::int64_t step, bool with_year) {
  const date::sys_seconds at{std::chrono::seconds(second)};
  if (step >= kDay || second % kDay == 0) {
    return date::format(with_year ? "%d %b %Y" : "%d %b", at);
  }
  return date::format(step < 60 ? "%T" : "%R", at);
}

void AppendTimeTicks(std::string& html, const Timeline& timeline) {
  const std::int64_t begin = timeline.begin().time_since_epoch() / std::chrono::seconds(1);
  const std::int64_t length =
      timeline.step().count() * static_cast<std::int64_t>(timeline.steps().size());
  const std::int64_t step = TickStep(length);
  html += "<div class=\"ticks\">";
  int number = 0;
  for (std::int64_t tick = (begin + step - 1) / step * step; tick <= begin + length; tick += step) {
    const double part = static_cast<double>(tick - begin) / static_cast<double>(length);
    // Labels at the ends would not fit into the chart.
    const std::string_view place = part < 0.04   ? " class=\"first\""
                                   : part > 0.96 ? " class=\"last\""
                                                 : "";
    fmt::format_to(std::back_inserter(html), "<span{} style=\"left:{:.2f}%\">{}</span>", place,
                   part * 100, TickText(tick, step, length > 300 * kDay));
    ++number;
  }
  html += "</div>\n";
}

}  // namespace

std::string TimelineChart(const Timeline& timeline) {
  const std::vector<Timeline::Step>& steps = timeline.steps();
  std::uint64_t most = 1;
  for (const Timeline::Step& step : steps) {
    most = std::max(most, step.allowed + step.denied);
  }
  most = AxisEnd(most);
  const std::size_t columns = std::max<std::size_t>(steps.size(), 1);
  std::string html = fmt::format(
      "<div class=\"chart\"><div class=\"axis\"><span>{}</span>{}<span>0</span></div>\n"
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"requests over time, allowed and denied\">\n",
      Grouped(most), most % 2 == 0 ? "<span>" + Grouped(most / 2) + "</span>" : "", columns * 10,
      kHeight);
  const auto out = std::back_inserter(html);
  for (const double part : {0.0, 0.5}) {
    fmt::format_to(out, "<line class=\"grid\" x1=\"0\" x2=\"{}\" y1=\"{:.0f}\" y2=\"{:.0f}\"/>\n",
                   columns * 10, kHeight * part, kHeight * part);
  }
  const double unit = kHeight / static_cast<double>(most);
  const double bar = columns > 200 ? 10 : 9;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Timeline::Step& step = steps[i];
    if (step.allowed + step.denied == 0) {
      continue;
    }
    // Any count is visible: at least a pixel or two high.
    const auto height = [unit](std::uint64_t count, double least) {
      return count == 0 ? 0 : std::max(unit * static_cast<double>(count), least);
    };
    const double denied = height(step.denied, 12);
    const double allowed = std::min(height(step.allowed, 6), kHeight - denied);
    const auto at = timeline.begin() + timeline.step() * static_cast<std::int64_t>(i);
    fmt::format_to(out, "<g><title>{}: {} allowed, {} denied</title>", InstantText(at),
                   Grouped(step.allowed), Grouped(step.denied));
    double top = kHeight;
    for (const auto& [name, high] : {std::pair("allowed", allowed), std::pair("denied", denied)}) {
      if (high > 0) {
        top -= high;
        fmt::format_to(out,
                       "<rect class=\"{}\" x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\"/>",
                       name, i * 10, top, bar, high);
      }
    }
    html += "</g>\n";
  }
  html += "</svg>\n";
  AppendTimeTicks(html, timeline);
  return html + "</div>\n";
}

std::string RatesChart(const std::vector<RateBin>& bins) {
  std::uint64_t most = 1;
  for (const RateBin& bin : bins) {
    most = std::max(most, bin.keys);
  }
  std::string html = "<div class=\"rates\">\n";
  int from = 0;
  for (const RateBin& bin : bins) {
    const bool over = bin.up_to_percent == 0 || bin.up_to_percent > 100;
    const std::string range = bin.up_to_percent == 0
                                  ? fmt::format("over {} %", from)
                                  : fmt::format("{}–{} %", from, bin.up_to_percent);
    const double part =
        100 * std::log1p(static_cast<double>(bin.keys)) / std::log1p(static_cast<double>(most));
    fmt::format_to(std::back_inserter(html),
                   "<div class=\"rate{}\"><span class=\"range\">{}</span><span class=\"bar\"><i "
                   "class=\"{}\" style=\"width:{:.1f}%\"></i></span><span class=\"count\">{}</span>"
                   "</div>\n",
                   bin.up_to_percent == 100 ? " at-limit" : "", range, over ? "denied" : "allowed",
                   part, bin.keys == 0 ? "" : Grouped(bin.keys));
    from = bin.up_to_percent;
  }
  return html + "</div>\n";
}

}  // namespace sluice::replay
