#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `sluice top` shows: an answer of GET /v1/ratelimit/top as lines. Pure.
namespace sluice::app {

struct TopRow {
  std::string rule;  // Safe to display, as `key`.
  std::string key;
  std::string attributes;  // As JSON; "" if the key is too long to be sent back.
  std::string raw_rule;    // As JSON.
  std::int64_t count = 0;
  std::int64_t at_least = 0;
  std::array<std::int64_t, 4> by_kind{};  // Allowed, denied, banned, shadow.
  double share = 0;                       // Of the rule's.
  std::int64_t last = 0;
};

struct TopAnswer {
  std::string kind;
  std::string window;
  std::int64_t window_ms = 0;
  std::int64_t now = 0;
  std::size_t rules = 0;
  std::vector<TopRow> rows;  // The highest count first, over all rules.
};
// None if `body` is no such answer.
[[nodiscard]] std::optional<TopAnswer> ReadTopAnswer(std::string_view body);
// Drops the rows in which neither rule nor key has `text`.
void Filter(std::string_view text, TopAnswer& answer);

// Each line fits into `columns`.
[[nodiscard]] std::string HeadingOf(const TopAnswer& answer, std::size_t columns);
[[nodiscard]] std::string ColumnTitles(std::size_t columns);
[[nodiscard]] std::string LineOf(const TopRow& row, const TopAnswer& answer, std::size_t columns);

// "9999", "12.3k", "4.56M": five characters at most.
[[nodiscard]] std::string ShortCount(double count);

}  // namespace sluice::app
