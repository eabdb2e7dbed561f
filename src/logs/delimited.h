#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/column_role.h"
#include "logs/line_parser.h"

namespace sluice::logs {

// Columns between commas, semicolons or tabs, texts in "quotes" where needed ("" is a quote in
// them), all on one line (RFC 4180 but for line breaks in texts).
//
// The first line names the columns, unless names are given. A first line that holds a stamp
// names nothing: then columns are column_1, column_2, ..., and what can be told from the first
// line (the time, an address, a method, a path) is.
class DelimitedParser final : public LineParser {
 public:
  // `names`: of the columns; empty: the first line has them.
  DelimitedParser(const ColumnOptions& columns, char delimiter,
                  const std::vector<std::string>& names);

  LineKind Parse(std::string_view line, LogRecord& record) override;

  // The character that cuts `line` most often; nullopt if none does.
  [[nodiscard]] static std::optional<char> DelimiterOf(std::string_view line);

 private:
  // False if a quote is not closed.
  [[nodiscard]] bool Split(std::string_view line);
  [[nodiscard]] std::optional<std::size_t> TakeQuoted(std::string_view line, std::size_t open);
  void NameColumns(const std::vector<std::string_view>& names);
  void GuessColumns();

  StampReader& stamps_;
  RowReader row_;
  char delimiter_;
  std::vector<RowReader::Column> columns_;  // Empty until named.
  std::vector<std::string_view> cells_;
  std::string unquoted_;  // Texts that had quotes in them.
};

}  // namespace sluice::logs
