#include "replay/text_layout.h"

#include <algorithm>
#include <utility>

#include "base/display_text.h"

namespace sluice::replay {

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

// As much of `text` as takes at most `columns`, at least a character.
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
