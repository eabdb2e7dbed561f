#include "replay/human_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <utility>

#include <date/date.h>
#include <fmt/format.h>

#include "base/display_text.h"
#include "core/calendar.h"

namespace sluice::replay {

std::string Grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string Grouped(Units units) {
  return units < 0 ? "-" + Grouped(static_cast<std::uint64_t>(-units))
                   : Grouped(static_cast<std::uint64_t>(units));
}

std::string Percent(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) {
    return "0 %";
  }
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) {
    return "< 0.01 %";
  }
  return percent < 1 ? fmt::format("{:.2f} %", percent) : fmt::format("{:.1f} %", percent);
}

std::string WindowText(Duration window) {
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 5> kUnits{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1'000, "s"}, {1, "ms"}}};
  const std::int64_t ms = window.count() / 1'000'000;
  for (const auto& [unit, name] : kUnits) {
    if (ms >= unit && ms % unit == 0) {
      return fmt::format("{}{}", ms / unit, name);
    }
  }
  return "0s";
}

std::string SpanText(Duration span) {
  const double seconds = std::chrono::duration<double>(span).count();
  if (seconds < 1) {
    return fmt::format("{:.0f} ms", seconds * 1e3);
  }
  if (seconds < 120) {
    return fmt::format("{:.0f} s", seconds);
  }
  if (seconds < 7200) {
    return fmt::format("{:.0f} min", seconds / 60);
  }
  return seconds < 172'800 ? fmt::format("{:.1f} hours", seconds / 3600)
                           : fmt::format("{:.1f} days", seconds / 86'400);
}

std::string InstantText(WallInstant at) {
  const date::sys_time<std::chrono::seconds> second{
      std::chrono::floor<std::chrono::seconds>(at.time_since_epoch())};
  return date::format("%F %T", second);
}

std::string ShareOfKeys(std::uint64_t share_ppm) {
  return share_ppm == 1'000'000
             ? "the highest"
             : fmt::format("{:g} % up to", static_cast<double>(share_ppm) / 10'000);
}

std::string QuotaText(const core::Quota& quota) {
  if (quota.unlimited) {
    return "unlimited";
  }
  if (core::HasHolds(quota.algorithm)) {
    return Grouped(quota.limit) + " in flight";
  }
  if (quota.calendar != nullptr) {
    const std::string_view shape = quota.calendar->shape();
    return fmt::format("{} per {}", Grouped(quota.limit), shape.substr(0, shape.find(' ')));
  }
  if (core::IsBucket(quota.algorithm)) {
    return fmt::format("{} per {}, burst {}", Grouped(quota.rate), WindowText(quota.window),
                       Grouped(quota.limit));
  }
  return fmt::format("{} per {}", Grouped(quota.limit), WindowText(quota.window));
}

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;  // Between columns.
constexpr std::size_t kLeastText = 12;
constexpr std::size_t kMostText = 60;

std::string PaddedLeft(std::string_view text, std::size_t width) {
  const std::size_t columns = base::ColumnsOf(text);
  return std::string(width - std::min(width, columns), ' ') + std::string(text);
}
std::string PaddedRight(std::string_view text, std::size_t width) {
  const std::size_t columns = base::ColumnsOf(text);
  return std::string(text) + std::string(width - std::min(width, columns), ' ');
}

// The prefix of `text` that takes at most `columns`, and at least one character.
std::string_view Fitting(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (std::size_t i = 1; i <= text.size(); ++i) {
    const bool inside = i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80;
    if (inside) {
      continue;
    }
    if (bytes != 0 && base::ColumnsOf(text.substr(0, i)) > columns) {
      break;
    }
    bytes = i;
  }
  return text.substr(0, bytes);
}

}  // namespace

void AppendWrapped(std::string& out, std::string_view text, std::size_t width, std::size_t indent,
                   std::size_t hanging) {
  const std::string shown = base::DisplayText(text);
  std::string_view rest = shown;
  std::string line(indent, ' ');
  std::size_t begin = indent;  // Of the line's text.
  std::size_t used = indent;
  const auto end_line = [&] {
    out += line;
    out += '\n';
    begin = indent + hanging;
    line.assign(begin, ' ');
    used = begin;
  };
  while (!rest.empty()) {
    std::string_view word = rest.substr(0, rest.find(' '));
    if (rest.substr(word.size())
            .starts_with(" %")) {  // A number and its percent sign stay together.
      word = rest.substr(0, rest.find(' ', word.size() + 1));
    }
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    while (!word.empty()) {
      const std::size_t blank = used == begin ? 0 : 1;
      const std::size_t columns = base::ColumnsOf(word);
      if (used + blank + columns <= width) {
        line.append(blank, ' ');
        line += word;
        used += blank + columns;
        break;
      }
      if (used != begin) {
        end_line();
        continue;
      }
      const std::string_view part = Fitting(word, width - used);  // Longer than a line.
      line += part;
      word.remove_prefix(part.size());
      end_line();
    }
  }
  if (used != begin) {
    end_line();
  }
}

TextTable::TextTable(std::vector<std::string> headings) {
  rows_.push_back({.cells = std::move(headings), .note = {}});
}

void TextTable::AddRow(std::vector<std::string> cells, std::string note) {
  cells.front() = base::DisplayText(cells.front());
  rows_.push_back({.cells = std::move(cells), .note = std::move(note)});
}

std::size_t TextTable::WidthOf(std::size_t column) const {
  std::size_t width = 0;
  for (const Row& row : rows_) {
    width = std::max(width, base::ColumnsOf(row.cells[column]));
  }
  return width;
}

void TextTable::AppendAsLists(std::string& out, std::size_t width) const {
  const std::vector<std::string>& headings = rows_.front().cells;
  for (std::size_t i = 1; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    AppendWrapped(out, base::DisplayText(row.cells.front(), width - kIndent), width, kIndent);
    std::string list;
    for (std::size_t column = 1; column < headings.size(); ++column) {
      list += (list.empty() ? "" : ", ") + headings[column] + " " + row.cells[column];
    }
    AppendWrapped(out, list, width, 2 * kIndent);
    AppendWrapped(out, row.note, width, 2 * kIndent);
  }
}

void TextTable::AppendTo(std::string& out, std::size_t width) const {
  std::size_t numbers = 0;
  std::size_t note = 0;
  for (std::size_t column = 1; column < rows_.front().cells.size(); ++column) {
    numbers += kGap + WidthOf(column);
  }
  for (const Row& row : rows_) {
    note = std::max(note, base::ColumnsOf(row.note));
  }
  const std::size_t wanted = std::min(WidthOf(0), kMostText);
  const bool stacked = kIndent + std::min(wanted, kLeastText) + numbers > width;
  const std::size_t text =
      stacked ? std::min(wanted, width - kIndent) : std::min(wanted, width - kIndent - numbers);
  const bool note_behind = !stacked && kIndent + text + numbers + kGap + note <= width;
  if (stacked && kIndent + numbers > width) {
    AppendAsLists(out, width);
    return;
  }
  for (const Row& row : rows_) {
    const std::size_t begin = out.size();
    out.append(kIndent, ' ');
    out += PaddedRight(base::DisplayText(row.cells.front(), text), text);
    if (stacked) {
      out.erase(out.find_last_not_of(' ') + 1);
      out += "\n  ";
    }
    for (std::size_t column = 1; column < row.cells.size(); ++column) {
      out.append(kGap, ' ');
      out += PaddedLeft(row.cells[column], WidthOf(column));
    }
    if (!row.note.empty() && note_behind) {
      out.append(kGap, ' ');
      out += row.note;
    }
    out.erase(std::max(out.find_last_not_of(' ') + 1, begin));
    out += '\n';
    if (!row.note.empty() && !note_behind) {
      AppendWrapped(out, row.note, width, 2 * kIndent);
    }
  }
}

}  // namespace sluice::replay
