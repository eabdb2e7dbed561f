#include "replay/html_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "replay/human_text.h"

namespace sluice::replay {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr double kWidth = 960;
constexpr double kLeft = 70;  // For the numbers of the axis.
constexpr double kRight = 10;

std::string Open(double height, std::string_view label) {
  return fmt::format(
      "<div class=\"scroll\"><svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\" "
      "preserveAspectRatio=\"xMidYMid\">\n",
      kWidth, height, label);
}

// The least of 1, 2, 5, 10, 20, ... that is at least `value`: where an axis ends.
std::uint64_t RoundUp(std::uint64_t value) {
  std::uint64_t power = 1;
  while (power * 10 <= value) {
    power *= 10;
  }
  for (const std::uint64_t step : {1, 2, 3, 4, 5, 6, 8, 10}) {
    if (power * step >= value) {
      return power * step;
    }
  }
  return value;
}

std::string Tick(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     text);
}

}  // namespace

std::string HtmlText(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  }
  return safe;
}

std::string TimelineChart(const Timeline& timeline) {
  constexpr double kTop = 12;
  constexpr double kPlot = 200;
  const std::vector<Timeline::Step>& steps = timeline.steps();
  std::uint64_t most = 1;
  for (const Timeline::Step& step : steps) {
    most = std::max(most, step.allowed + step.denied);
  }
  most = RoundUp(most);
  std::string svg = Open(kTop + kPlot + 26, "requests over time, allowed and denied");
  const Out out(svg);
  for (const double part : {0.0, 0.5, 1.0}) {
    const double y = kTop + (kPlot * (1 - part));
    fmt::format_to(out, "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                   kLeft, kWidth - kRight, y, y);
    if (part != 0.5 || most % 2 == 0) {
      svg += Tick(kLeft - 8, y + 4, "end",
                  Grouped(static_cast<std::uint64_t>(static_cast<double>(most) * part)));
    }
  }
  const double each =
      (kWidth - kLeft - kRight) / static_cast<double>(std::max<std::size_t>(steps.size(), 1));
  const double bar = std::max(each - (each > 4 ? 1 : 0), 0.6);
  const double unit = kPlot / static_cast<double>(most);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Timeline::Step& step = steps[i];
    if (step.allowed + step.denied == 0) {
      continue;
    }
    const double x = kLeft + (each * static_cast<double>(i));
    // What is there is seen: at least a pixel high.
    const double denied =
        step.denied == 0 ? 0 : std::max(unit * static_cast<double>(step.denied), 1.5);
    const double allowed =
        step.allowed == 0 ? 0 : std::max(unit * static_cast<double>(step.allowed), 1.0);
    const auto at = timeline.begin() + timeline.step() * static_cast<std::int64_t>(i);
    fmt::format_to(out, "<g><title>{}: {} allowed, {} denied</title>", InstantText(at),
                   Grouped(step.allowed), Grouped(step.denied));
    if (allowed > 0) {
      fmt::format_to(
          out,
          "<rect class=\"allowed\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>",
          x, kTop + kPlot - allowed, bar, allowed);
    }
    if (denied > 0) {
      fmt::format_to(
          out,
          "<rect class=\"denied\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>",
          x, kTop + kPlot - allowed - denied, bar, denied);
    }
    svg += "</g>\n";
  }
  const std::size_t ticks = std::min<std::size_t>(steps.size(), 6);
  const bool days =
      timeline.step() * static_cast<std::int64_t>(steps.size()) > std::chrono::hours(72);
  for (std::size_t i = 0; i < ticks; ++i) {
    const std::size_t number = i * steps.size() / ticks;
    const auto at = timeline.begin() + timeline.step() * static_cast<std::int64_t>(number);
    const std::string text = InstantText(at);
    svg += Tick(kLeft + (each * static_cast<double>(number)), kTop + kPlot + 18, "start",
                days ? text.substr(0, 10) : text.substr(5));
  }
  return svg + "</svg></div>\n";
}

std::string KeysChart(const std::vector<KeyLine>& keys) {
  constexpr double kRow = 26;
  constexpr double kNames = 250;
  constexpr double kNumbers = 190;
  std::uint64_t most = 1;
  for (const KeyLine& key : keys) {
    most = std::max(most, key.requests);
  }
  std::string svg = Open((kRow * static_cast<double>(keys.size())) + 4, "requests by key");
  const Out out(svg);
  double y = 2;
  for (const KeyLine& key : keys) {
    const double unit = (kWidth - kNames - kNumbers) / static_cast<double>(most);
    const double denied = unit * static_cast<double>(key.denied);
    const double allowed = unit * static_cast<double>(key.requests - key.denied);
    const std::string name =
        key.key.size() > 34 ? key.key.substr(0, 32) + "…" : (key.key.empty() ? "(all)" : key.key);
    fmt::format_to(out, "<g><title>{}: {} requests, {} denied</title>", HtmlText(key.key),
                   Grouped(key.requests), Grouped(key.denied));
    svg += Tick(kNames - 10, y + 17, "end", HtmlText(name));
    fmt::format_to(
        out,
        "<rect class=\"denied\" x=\"{}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"18\"/>"
        "<rect class=\"allowed\" x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"18\"/>",
        kNames, y + 3, denied, kNames + denied, y + 3, std::max(allowed, 0.0));
    svg += Tick(kNames + denied + allowed + 8, y + 17, "start",
                key.denied == 0
                    ? Grouped(key.requests)
                    : fmt::format("{} of {} denied", Grouped(key.denied), Grouped(key.requests)));
    svg += "</g>\n";
    y += kRow;
  }
  return svg + "</svg></div>\n";
}

std::string RatesChart(const std::vector<RateBin>& bins) {
  constexpr double kTop = 30;
  constexpr double kPlot = 170;
  std::uint64_t most = 1;
  for (const RateBin& bin : bins) {
    most = std::max(most, bin.keys);
  }
  std::string svg = Open(kTop + kPlot + 44, "keys by the share of the limit that they reached");
  const Out out(svg);
  const double each = (kWidth - kLeft - kRight) / static_cast<double>(bins.size());
  const double scale = kPlot / std::log1p(static_cast<double>(most));
  fmt::format_to(out, "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n", kLeft,
                 kWidth - kRight, kTop + kPlot, kTop + kPlot);
  int from = 0;
  double limit_x = 0;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const RateBin& bin = bins[i];
    const double x = kLeft + (each * static_cast<double>(i));
    const double height = scale * std::log1p(static_cast<double>(bin.keys));
    const bool over = bin.up_to_percent == 0 || bin.up_to_percent > 100;
    const std::string range = bin.up_to_percent == 0
                                  ? fmt::format("over {}", from)
                                  : fmt::format("{}–{}", from, bin.up_to_percent);
    fmt::format_to(
        out,
        "<g><title>{} keys reached {} % of their limit</title>"
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
        Grouped(bin.keys), range, over ? "denied" : "allowed", x + 4, kTop + kPlot - height,
        each - 8, height);
    if (bin.keys != 0) {
      svg += Tick(x + (each / 2), kTop + kPlot - height - 6, "middle", Grouped(bin.keys));
    }
    svg += Tick(x + (each / 2), kTop + kPlot + 18, "middle", range);
    svg += "</g>\n";
    if (bin.up_to_percent == 100) {
      limit_x = x + each;
    }
    from = bin.up_to_percent;
  }
  fmt::format_to(out, "<line class=\"limit\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"8\" y2=\"{1}\"/>\n",
                 limit_x, kTop + kPlot);
  svg += Tick(limit_x + 6, 18, "start", "the limit");
  svg +=
      Tick(kLeft + ((kWidth - kLeft - kRight) / 2), kTop + kPlot + 38, "middle",
           "most that a key requested in one window, in % of its limit (bars: keys, logarithmic)");
  return svg + "</svg></div>\n";
}

}  // namespace sluice::replay
