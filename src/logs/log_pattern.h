#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/line_parser.h"
#include "logs/row_reader.h"

namespace sluice::logs {

// The layout of a log's lines, written as in NGINX's log_format:
//
//   $remote_addr - $remote_user [$time_local] "$request" $status ${a:b}
//
// Each variable is a column. Its name has the same meaning as in a CSV log (column_role.h).
struct LogPattern {
  struct Column {
    std::string name;
    std::string literal;  // The text after it; may be "" for the last one.
  };
  std::string begin;  // The text before the first column.
  std::vector<Column> columns;

  // Errors: no variable, two variables without text between them, an unclosed brace.
  [[nodiscard]] static Result<LogPattern> Parse(std::string_view text);
};

// Parses lines with the layout of a pattern. A quoted text may contain quotes after backslashes.
// The rest of a line after the pattern is ignored.
class PatternParser final : public LineParser {
 public:
  struct Layout {
    LogPattern pattern;
    // A line may end after this many columns.
    std::size_t least_columns = 0;
    // Whether columns outside quotes contain no blanks.
    bool blanks_separate = false;
    // A column whose time counts only if no other column has one; "" for none.
    std::string last_resort_time{};
    // The allowed values of the first column; empty: any.
    std::vector<std::string_view> first_values{};
  };

  // `columns`: the meaning of the columns. The objects that it points to outlive the parser.
  PatternParser(const ColumnOptions& columns, Layout layout);

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  struct Column {
    RowReader::Column role;
    std::string literal;
    std::string closing;  // The part of the literal that ends the last column of a short line.
    bool quoted = false;
  };
  // The position in `rest` of the literal after a column; npos if it is missing.
  [[nodiscard]] std::size_t EndOf(const Column& column, std::string_view rest) const;

  RowReader row_;
  std::string begin_;
  std::vector<Column> columns_;
  std::size_t least_columns_;
  bool blanks_separate_;
  std::vector<std::string_view> first_values_;
};

// The text formats of load balancers and proxies, which do not name their columns.
[[nodiscard]] PatternParser::Layout AlbLayout();         // AWS application load balancer.
[[nodiscard]] PatternParser::Layout ClassicElbLayout();  // AWS classic load balancer.
[[nodiscard]] PatternParser::Layout EnvoyLayout();       // Envoy's default text format.
[[nodiscard]] PatternParser::Layout IstioLayout();       // Istio's default text format.

}  // namespace sluice::logs
