#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "logs/line_parser.h"
#include "logs/row_reader.h"
#include "logs/stamp.h"

namespace sluice::logs {

inline StampReader StampsIn(std::string_view zone) {
  return std::move(*StampReader::In(zone));
}

// Milliseconds since 1970.
inline std::int64_t MsOf(WallInstant at) {
  return at.time_since_epoch().count() / 1'000'000;
}

// What tests of the parsers share: a record, and its values as text.
class ParserTest : public ::testing::Test {
 protected:
  // "-" where the value is absent.
  [[nodiscard]] std::string Get(Field field) const { return Shown(record_.Get(field)); }
  [[nodiscard]] std::string Column(std::size_t i) const { return Shown(record_.columns.at(i)); }

  // For parsers of formats with columns, which give `wanted` as LogRecord::columns.
  [[nodiscard]] ColumnOptions Columns(const std::vector<std::string>& wanted,
                                      TimeColumn time = {}) {
    return {.stamps = &utc_, .wanted = &wanted, .time = std::move(time)};
  }

  StampReader utc_ = StampsIn("UTC");
  LogRecord record_;

 private:
  static std::string Shown(std::string_view value) {
    return value.data() == nullptr ? "-" : std::string(value);
  }
};

}  // namespace sluice::logs
