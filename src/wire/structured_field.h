#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::wire {

// Structured fields (RFC 9651): Lists of Items with Parameters, as RateLimit and RateLimit-Policy
// use them.

// Appends a List, member by member, in canonical form, to a field's value:
//
//   SfListWriter list(out);
//   list.Member("burst").Param("q", 100).Param("w", 60);    // "burst";q=100;w=60
//
// Text must be printable ASCII, and integers have at most fifteen digits. Rule names and quotas are
// checked for that when rules are loaded, so a breach is a bug. Allocates only as `out` grows.
class SfListWriter {
 public:
  explicit SfListWriter(std::string& out) : out_(out) {}

  // A String.
  SfListWriter& Member(std::string_view text);
  SfListWriter& Param(std::string_view key, std::int64_t number);
  SfListWriter& Param(std::string_view key, std::string_view text);

 private:
  void AppendString(std::string_view text);

  std::string& out_;
  bool first_ = true;
};

struct SfToken {
  std::string text;
  bool operator==(const SfToken&) const = default;
};
struct SfBytes {
  std::string bytes;  // Decoded.
  bool operator==(const SfBytes&) const = default;
};
// In thousandths, so it is exact.
struct SfDecimal {
  std::int64_t thousandths = 0;
  bool operator==(const SfDecimal&) const = default;
};

using SfBareItem = std::variant<std::int64_t, SfDecimal, std::string, SfToken, SfBytes, bool>;

struct SfItem {
  SfBareItem value;
  std::vector<std::pair<std::string, SfBareItem>> params;  // For a repeated key, the last value.

  // The parameter with that key, or null.
  [[nodiscard]] const SfBareItem* Param(std::string_view key) const;
};

// Parses a List of Items (without inner lists, Dates and Display Strings). nullopt if the field is
// malformed: it must then be ignored as a whole. An empty text is an empty List.
[[nodiscard]] std::optional<std::vector<SfItem>> ParseSfList(std::string_view text);

}  // namespace sluice::wire
