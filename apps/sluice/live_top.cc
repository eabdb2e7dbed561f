#include "live_top.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "answer_text.h"
#include "base/display_text.h"
#include "wire/url_encoding.h"

namespace sluice::app {

namespace {

constexpr std::array<std::string_view, 5> kTopKinds{"all", "allowed", "denied", "banned", "shadow"};

constexpr std::array<std::string_view, 14> kTopHelp{
    "sluice top shows which keys decide most, by rule, on one node.",
    "",
    "  1 2 3 4 5   order by: all decisions, allowed, denied, banned, shadow",
    "  w           the last minute, or since the daemon started",
    "  /           show only rules and keys with a text; Escape shows all",
    "  up, down    choose a key (also k and j)",
    "  r           reset the chosen key: it gets its full limit again",
    "  u           lift the chosen key's ban",
    "  space       hold the picture still, or go on",
    "  ?           this text",
    "  q           leave",
    "",
    "SHARE is of the decisions of the key's rule. Bans begin by a rule's `ban` alone.",
    "Press any key.",
};

}  // namespace

net::HttpCall TopCall(const TopOptions& options) {
  net::HttpCall call{.target = fmt::format("/v1/ratelimit/top?kind={}&window={}&n={}", options.kind,
                                           options.window, options.keys)};
  if (!options.rule.empty()) {
    call.target += "&rule=";
    wire::AppendPercentEncoded(call.target, options.rule);
  }
  return call;
}

void LiveTop::Run() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kRefresh{1'000};
  Clock::time_point due = Clock::now();
  for (;;) {
    if (Clock::now() >= due) {
      due = Clock::now() + kRefresh;
      if (!paused_) {
        Fetch();
      }
    }
    Draw();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now());
    const int key = terminal_.Read(std::max(left, std::chrono::milliseconds(0)));
    if (key != Terminal::kNone) {
      const std::string before = options_.kind + options_.window;
      if (!OnKey(key)) {
        return;
      }
      if (before != options_.kind + options_.window) {
        Fetch();
      }
    }
  }
}

void LiveTop::Fetch() {
  const auto reply = net::CallHttp(server_, Bounded(TopCall(options_)));
  if (!reply) {
    note_ = reply.error().Text();
    return;
  }
  if (auto answer = reply->status == 200 ? ReadTopAnswer(reply->body) : std::nullopt) {
    answer_ = *std::move(answer);
    Filter(filter_, answer_);
  } else {
    note_ = TellProblem(reply->status, reply->body);
  }
}

void LiveTop::Draw() {
  const Terminal::Size size = terminal_.size();
  if (mode_ == Mode::kHelp) {
    std::vector<std::string> lines;
    for (const std::string_view line : kTopHelp) {
      lines.push_back(base::DisplayText(line, size.columns));
    }
    terminal_.Show(lines, lines.size());
    return;
  }
  const std::vector<std::string> lines = List(size.columns, size.rows);
  terminal_.Show(lines, highlighted_);
}

std::vector<std::string> LiveTop::List(std::size_t columns, std::size_t rows) {
  constexpr std::size_t kFixed = 4;  // Heading, titles, note, footer.
  const std::size_t room = rows > kFixed ? rows - kFixed : 1;
  std::vector<std::string> lines{HeadingOf(answer_, columns), ColumnTitles(columns)};
  chosen_ = std::min(chosen_, answer_.rows.empty() ? 0 : answer_.rows.size() - 1);
  const std::size_t first = chosen_ < room ? 0 : chosen_ - room + 1;
  for (std::size_t i = first; i < answer_.rows.size() && i < first + room; ++i) {
    lines.push_back(LineOf(answer_.rows[i], answer_, columns));
  }
  highlighted_ = answer_.rows.empty() ? rows : 2 + chosen_ - first;
  if (answer_.rows.empty()) {
    lines.emplace_back(filter_.empty() ? "nothing was decided" : "no rule or key has this text");
  }
  lines.resize(std::max(lines.size(), rows > 2 ? rows - 2 : 0));
  lines.push_back(base::DisplayText(note_, columns));
  lines.push_back(base::DisplayText(Footer(), columns));
  return lines;
}

std::string LiveTop::Footer() const {
  if (mode_ == Mode::kFilter) {
    return "show only: " + filter_ + "_   (Enter keeps it, Escape shows all)";
  }
  if (mode_ == Mode::kConfirm) {
    return fmt::format("{} {} of {}? y/n", verb_ == 'r' ? "reset" : "lift the ban of",
                       chosen_row_.key, chosen_row_.rule);
  }
  return fmt::format("1-5 order  w window  / filter{}  r reset  u unban  space {}  ? help  q quit",
                     filter_.empty() ? "" : " (" + filter_ + ")", paused_ ? "go on" : "hold");
}

bool LiveTop::OnKey(int key) {
  if (key == Terminal::kEnd) {
    return false;
  }
  switch (mode_) {
    case Mode::kList:
      return OnListKey(key);
    case Mode::kFilter:
      OnFilterKey(key);
      break;
    case Mode::kHelp:
      mode_ = Mode::kList;
      break;
    case Mode::kConfirm:
      mode_ = Mode::kList;
      if (key == 'y' || key == 'Y') {
        Act();
      }
      break;
  }
  return true;
}

bool LiveTop::OnListKey(int key) {
  note_.clear();
  constexpr int kPage = 10;
  switch (key) {
    case 'q':
      return false;
    case '?':
      mode_ = Mode::kHelp;
      break;
    case '/':
      mode_ = Mode::kFilter;
      break;
    case Terminal::kEscape:
      filter_.clear();
      Fetch();
      break;
    case 'w':
      options_.window = options_.window == "minute" ? "start" : "minute";
      break;
    case ' ':
      paused_ = !paused_;
      break;
    case Terminal::kUp:
    case 'k':
      Move(-1);
      break;
    case Terminal::kDown:
    case 'j':
      Move(1);
      break;
    case Terminal::kPageUp:
      Move(-kPage);
      break;
    case Terminal::kPageDown:
      Move(kPage);
      break;
    case 'r':
    case 'u':
      Ask(static_cast<char>(key));
      break;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
      options_.kind = kTopKinds[static_cast<std::size_t>(key - '1')];
      break;
    default:
      break;
  }
  return true;
}

void LiveTop::OnFilterKey(int key) {
  constexpr int kBackspace = 0x7f;
  constexpr int kOldBackspace = 0x08;
  if (key == '\r' || key == '\n') {
    mode_ = Mode::kList;
  } else if (key == Terminal::kEscape) {
    filter_.clear();
    mode_ = Mode::kList;
  } else if (key == kBackspace || key == kOldBackspace) {
    if (!filter_.empty()) {
      filter_.pop_back();
    }
  } else if (key >= ' ' && key < kBackspace) {
    filter_ += static_cast<char>(key);
  }
  Fetch();
}

void LiveTop::Move(int by) {
  const auto last = static_cast<std::ptrdiff_t>(answer_.rows.size()) - 1;
  const std::ptrdiff_t to = static_cast<std::ptrdiff_t>(chosen_) + by;
  chosen_ = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(to, 0, std::max<std::ptrdiff_t>(last, 0)));
}

void LiveTop::Ask(char key) {
  if (answer_.rows.empty()) {
    return;
  }
  chosen_row_ = answer_.rows[chosen_];
  if (chosen_row_.attributes.empty() || chosen_row_.rule.starts_with('@')) {
    note_ = chosen_row_.rule.starts_with('@')
                ? "this is no rule's key: use `sluice envoy` or the client that set it"
                : "the key has no attributes, or is too long to be named";
    return;
  }
  verb_ = key;
  mode_ = Mode::kConfirm;
}

void LiveTop::Act() {
  const auto reply = net::CallHttp(
      server_, Bounded({.method = "POST",
                        .target = verb_ == 'r' ? "/v1/ratelimit/reset" : "/v1/ratelimit/unban",
                        .content_type = "application/json",
                        .body = fmt::format("{{\"attributes\":{},\"rule\":{}}}",
                                            chosen_row_.attributes, chosen_row_.raw_rule)}));
  if (!reply) {
    note_ = reply.error().Text();
  } else if (reply->status != 200) {
    note_ = TellProblem(reply->status, reply->body);
  } else {
    note_ = verb_ == 'r' ? TellReset(reply->body) : TellUnban(reply->body);
    note_.erase(note_.find_last_not_of('\n') + 1);
  }
}

}  // namespace sluice::app
