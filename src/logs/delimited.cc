#include <algorithm>
#include <array>
#include <cstddef>

#include "logs/line_parser.h"
#include "logs/log_record.h"

namespace sluice::logs {

namespace {

bool IsCommonMethod(std::string_view text) {
  constexpr std::array<std::string_view, 9> kMethods{
      "GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "CONNECT", "TRACE"};
  return std::ranges::find(kMethods, text) != kMethods.end();
}

}  // namespace

DelimitedParser::DelimitedParser(const ColumnOptions& columns, char delimiter,
                                 const std::vector<std::string>& names)
    : stamps_(*columns.stamps), row_(columns), delimiter_(delimiter) {
  NameColumns({names.begin(), names.end()});
}

std::optional<char> DelimitedParser::DelimiterOf(std::string_view line) {
  char best = 0;
  std::ptrdiff_t most = 0;
  for (const char candidate : {'\t', ',', ';'}) {
    const std::ptrdiff_t count = std::ranges::count(line, candidate);
    if (count > most) {
      best = candidate;
      most = count;
    }
  }
  return most == 0 ? std::nullopt : std::optional(best);
}

bool DelimitedParser::Split(std::string_view line) {
  cells_.clear();
  unquoted_.clear();
  unquoted_.reserve(line.size());  // Cells are views of it, so it must not move.
  std::size_t at = 0;
  for (;;) {
    if (at < line.size() && line[at] == '"') {
      const auto end = TakeQuoted(line, at);
      if (!end) {
        return false;
      }
      at = *end;
    } else {
      const std::size_t end = std::min(line.find(delimiter_, at), line.size());
      cells_.push_back(line.substr(at, end - at));
      at = end;
    }
    if (at == line.size()) {
      return true;
    }
    ++at;
  }
}

// A closing quote is followed by the end of its cell. Two quotes are one in the text; any other
// quote is part of the text, as in Apache's \". Returns the position after the text; nullopt if it
// is not closed.
std::optional<std::size_t> DelimitedParser::TakeQuoted(std::string_view line, std::size_t open) {
  const std::size_t begin = unquoted_.size();
  std::size_t from = open + 1;
  for (std::size_t quote = line.find('"', from);; quote = line.find('"', quote + 1)) {
    if (quote == line.npos) {
      return std::nullopt;
    }
    if (quote + 1 == line.size() || line[quote + 1] == delimiter_) {
      if (from == open + 1) {
        cells_.push_back(line.substr(from, quote - from));
      } else {
        unquoted_ += line.substr(from, quote - from);
        cells_.push_back(std::string_view(unquoted_).substr(begin));
      }
      return quote + 1;
    }
    if (line[quote + 1] == '"' && line[quote - 1] != '\\') {
      unquoted_ += line.substr(from, quote + 1 - from);
      from = quote + 2;
      ++quote;
    }
  }
}

void DelimitedParser::NameColumns(const std::vector<std::string_view>& names) {
  columns_.clear();
  for (const std::string_view name : names) {
    columns_.push_back(row_.ColumnNamed(name));
  }
}

// Guesses the columns by the first line, if it is not a header.
void DelimitedParser::GuessColumns() {
  bool time = false;
  bool client = false;
  bool method = false;
  bool path = false;
  columns_.clear();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    RowReader::Column column = row_.ColumnNamed("column_" + std::to_string(i + 1));
    const std::string_view cell = cells_[i];
    LogRecord seen;
    seen.Clear(0);
    SetClient(seen, cell);
    const auto take = [&](bool& taken, std::string_view name) {
      if (!taken) {
        column.role = RoleOf(name);
        taken = true;
      }
    };
    if (cell.size() >= 16 && stamps_.Any(cell)) {
      take(time, "time");
    } else if (seen.Get(Field::kIp).data() != nullptr) {
      take(client, "ip");
    } else if (IsCommonMethod(cell)) {
      take(method, "method");
    } else if (cell.starts_with('/')) {
      take(path, "path");
    }
    columns_.push_back(column);
  }
}

LineKind DelimitedParser::Parse(std::string_view line, LogRecord& record) {
  if (line.empty()) {
    return LineKind::kOther;
  }
  if (!Split(line)) {
    return Bad("a quote is not closed");
  }
  if (columns_.empty()) {
    if (std::ranges::none_of(cells_, [this](std::string_view cell) {
          return cell.size() >= 16 && stamps_.Any(cell).has_value();
        })) {
      NameColumns(cells_);
      return LineKind::kOther;
    }
    GuessColumns();
  }
  if (cells_.size() != columns_.size()) {
    return Bad("it has more or fewer columns than the header");
  }
  row_.Begin(record);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (!columns_[i].useless()) {
      row_.Set(record, columns_[i], cells_[i]);
    }
  }
  const std::string_view problem = row_.End(record);
  return problem.empty() ? LineKind::kRequest : Bad(problem);
}

}  // namespace sluice::logs
