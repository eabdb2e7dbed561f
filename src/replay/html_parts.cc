#include "replay/html_parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/display_text.h"
#include "replay/human_text.h"

namespace sluice::replay {

namespace {

constexpr std::size_t kMostColumns = 300;

std::string Escaped(std::string_view text) {
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
        safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string HtmlText(std::string_view text) {
  return Escaped(base::DisplayText(text));
}

std::string HtmlClientText(std::string_view text) {
  return "<bdi>" + Escaped(base::DisplayText(text, kMostColumns)) + "</bdi>";
}

namespace {

using Inserter = std::back_insert_iterator<std::string>;

void AppendFact(std::string& html, std::string_view name, std::string_view value) {
  fmt::format_to(Inserter(html), "<div><dt>{}</dt><dd>{}</dd></div>", name, value);
}

// "4xx 98.0 %, 2xx 2.0 %": most frequent first. "" if no answer has a status.
std::string StatusText(const KeyProfile& profile) {
  constexpr std::array<std::string_view, 6> kNames{"unknown", "1xx", "2xx", "3xx", "4xx", "5xx"};
  const std::array<std::uint64_t, 6>& statuses = profile.statuses();
  if (statuses[0] == profile.requests()) {
    return "";
  }
  std::array<std::size_t, 6> order{};
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return statuses[i]; });
  std::string text;
  for (const std::size_t i : order) {
    if (statuses[i] != 0) {
      fmt::format_to(Inserter(text), "{}{} {}", text.empty() ? "" : ", ", kNames[i],
                     Percent(statuses[i], profile.requests()));
    }
  }
  return text;
}

// The most frequent text, if one dominates.
std::string TopText(const FrequentTexts::Top& top, std::uint64_t requests) {
  if (top.count * 20 < requests) {
    return "<span class=\"soft\">many, none above 5 %</span>";
  }
  return HtmlClientText(top.text) + " <span class=\"soft\">" + Percent(top.count, requests) +
         "</span>";
}

void AppendFacts(std::string& html, const RuleReport& rule, const KeyLine& key) {
  html += "<dl>";
  if (rule.has_peaks) {
    AppendFact(
        html, rule.measure,
        fmt::format("<span{}>{}</span> of {} allowed", key.denied == 0 ? "" : " class=\"bad\"",
                    Grouped(key.peak), Grouped(key.limit)));
  }
  if (key.denied != 0) {
    AppendFact(html, "denied between",
               InstantText(key.first_denied) + " and " + InstantText(key.last_denied));
  }
  const KeyProfile& denied = key.denied_requests;
  if (const std::string statuses = StatusText(denied); !statuses.empty()) {
    AppendFact(html, "answers to the denied", statuses);
  }
  if (const auto top = denied.endpoint(); top.count != 0) {
    AppendFact(html, "path", TopText(top, denied.requests()));
  }
  if (const auto top = denied.user_agent(); top.count != 0) {
    AppendFact(html, "user agent", TopText(top, denied.requests()));
  }
  html += "</dl>";
}

}  // namespace

std::string KeyList(const RuleReport& rule, const std::vector<KeyLine>& keys) {
  std::uint64_t most = 1;
  for (const KeyLine& key : keys) {
    most = std::max(most, key.requests);
  }
  std::string html = "<ol class=\"keys\">\n";
  for (const KeyLine& key : keys) {
    const auto part = [most](std::uint64_t count) {
      return 100 * static_cast<double>(count) / static_cast<double>(most);
    };
    fmt::format_to(
        Inserter(html),
        "<li><div class=\"key\">{}</div>\n<div class=\"amount\"><span class=\"bar\"><i "
        "class=\"denied\" style=\"width:{:.2f}%\"></i><i class=\"allowed\" "
        "style=\"width:{:.2f}%\"></i></span><span>{}</span></div>\n",
        key.key.empty() ? "<span class=\"soft\">all requests</span>" : HtmlClientText(key.key),
        part(key.denied), part(key.requests - key.denied),
        key.denied == 0
            ? Grouped(key.requests) + " requests, none denied"
            : fmt::format("<b class=\"bad\">{}</b> of {} requests denied ({})", Grouped(key.denied),
                          Grouped(key.requests), Percent(key.denied, key.requests)));
    AppendFacts(html, rule, key);
    html += "</li>\n";
  }
  return html + "</ol>\n";
}

}  // namespace sluice::replay
