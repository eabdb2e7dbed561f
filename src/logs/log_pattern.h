#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/result.h"

#include "logs/column_role.h"
#include "logs/line_parser.h"

namespace sluice::logs {

// How the lines of a log are laid out, written as in NGINX's log_format:
//
//   $remote_addr - $remote_user [$time_local] "$request" $status ${a:b}
//
// Each variable is a column, known by its name as the columns of a CSV are (column_role.h).
struct LogPattern {
  struct Column {
    std::string name;
    std::string literal;  // What stands behind it; "" for the last one perhaps.
  };
  std::string begin;  // What stands before the first column.
  std::vector<Column> columns;

  // Errors: no variable, two without anything between them, a brace that is not closed.
  [[nodiscard]] static Result<LogPattern> Parse(std::string_view text);
};

// Reads lines that are laid out by a pattern. A text between quotes may have quotes behind
// backslashes in it. What follows the pattern on a line is not read.
class PatternParser final : public LineParser {
 public:
  struct Layout {
    LogPattern pattern;
    // A line may end behind so many columns.
    std::size_t least_columns = 0;
    // Whether columns outside quotes have no blanks in them.
    bool blanks_separate = false;
    // A column whose time counts only if no other is there; "" for none.
    std::string last_resort_time{};
    // What the first column may say; empty: anything.
    std::vector<std::string_view> first_values{};
  };

  // `columns`: what the columns are for. What it points to outlives the parser.
  PatternParser(const ColumnOptions& columns, Layout layout);

  LineKind Parse(std::string_view line, LogRecord& record) override;

 private:
  struct Column {
    RowReader::Column role;
    std::string literal;
    std::string closing;  // The literal's part that ends the last column of a short line.
    bool quoted = false;
  };
  // Where the literal behind a column stands in `rest`; npos if it is not there.
  [[nodiscard]] std::size_t EndOf(const Column& column, std::string_view rest) const;

  RowReader row_;
  std::string begin_;
  std::vector<Column> columns_;
  std::size_t least_columns_;
  bool blanks_separate_;
  std::vector<std::string_view> first_values_;
};

// The text formats of load balancers and proxies that write no names into their logs.
[[nodiscard]] PatternParser::Layout AlbLayout();         // AWS application load balancer.
[[nodiscard]] PatternParser::Layout ClassicElbLayout();  // AWS classic load balancer.
[[nodiscard]] PatternParser::Layout EnvoyLayout();       // Envoy's default text format.
[[nodiscard]] PatternParser::Layout IstioLayout();       // Istio's default text format.

}  // namespace sluice::logs
