#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "logs/column_role.h"
#include "logs/line_parser.h"

namespace sluice::logs {

// The W3C Extended Log File Format, as IIS (between spaces) and CloudFront (between tabs) write
// it. "#Fields:" says what columns follow, and may say something else further down; "#Date:"
// stands in where lines have a time of day only. Times are UTC, whatever zone was asked for.
// Texts have '+' for blanks. Source: W3C working draft WD-logfile-960323.
class W3cParser final : public LineParser {
 public:
  // `columns`: with a reader of stamps in UTC.
  explicit W3cParser(const ColumnOptions& columns) : row_(columns) {}

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  void ReadDirective(std::string_view line);

  RowReader row_;
  std::vector<RowReader::Column> columns_;
  std::string date_;       // Of the last "#Date:".
  bool has_date_ = false;  // Whether the columns have one.
};

}  // namespace sluice::logs
