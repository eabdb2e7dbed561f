#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/column_role.h"
#include "logs/log_record.h"
#include "logs/stamp.h"

namespace sluice::logs {

// The column with a request's time, if the caller names it. `name` "": a column with a known name.
// `unit`: the unit of its numbers since 1970; nullopt: detected by their size.
struct TimeColumn {
  std::string name{};
  std::optional<Duration> unit{};
};

// How the columns of a log are read. The objects that it points to outlive the readers.
struct ColumnOptions {
  StampReader* stamps = nullptr;
  // Names of columns whose unchanged values go to LogRecord::columns; compared exactly.
  const std::vector<std::string>* wanted = nullptr;
  TimeColumn time{};
};

// Collects the columns of one line into a record, in any order: the time, the client and so on.
// Reused from line to line. One thread.
class RowReader {
 public:
  explicit RowReader(ColumnOptions options) : options_(std::move(options)) {}

  // The meaning of a column.
  struct Column {
    ColumnRole role;
    int wanted = -1;  // The index in LogRecord::columns; -1 if it is not read.

    [[nodiscard]] bool useless() const { return role.kind == ColumnKind::kPlain && wanted < 0; }
  };
  [[nodiscard]] Column ColumnNamed(std::string_view name) const;

  void Begin(LogRecord& record);
  // `value` must outlive the use of the record. Empty values and "-" count as absent.
  void Set(LogRecord& record, const Column& column, std::string_view value);
  // "" if the record is complete, otherwise the problem: a literal.
  [[nodiscard]] std::string_view End(LogRecord& record);

 private:
  struct Best {
    std::string_view value;
    std::uint8_t rank = 255;
    void Offer(std::string_view offered, std::uint8_t offered_rank) {
      if (offered_rank < rank) {
        value = offered;
        rank = offered_rank;
      }
    }
  };

  [[nodiscard]] std::optional<WallInstant> ReadTime() const;

  ColumnOptions options_;
  Best time_;
  Best date_;
  Best request_line_;
  Best target_;
  Best query_;
  std::array<std::uint8_t, kFieldCount> field_ranks_{};
  std::string joined_;  // Path and query.
};

}  // namespace sluice::logs
