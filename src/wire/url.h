#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::wire {

enum class UrlPart : std::uint8_t {
  kPath,   // '+' is itself.
  kQuery,  // '+' is a space, as forms write it.
};

// Undoes percent-encoding. Nothing where an escape is no '%' and two hex digits, or where
// the result is no UTF-8 or holds a NUL.
[[nodiscard]] std::optional<std::string> DecodePercent(std::string_view text, UrlPart part);

// Appends `text` with all but RFC 3986's unreserved characters escaped.
void AppendPercentEncoded(std::string& out, std::string_view text);

using QueryPairs = std::vector<std::pair<std::string, std::string>>;

// "a=1&b=x%20y" to its pairs, decoded, in order; "a" and "a=" are an empty value, and empty
// pairs ("&&") are passed over. Nothing for a bad escape, a pair without a name or more than
// `max_pairs`.
[[nodiscard]] std::optional<QueryPairs> ReadQuery(std::string_view query,
                                                  std::size_t max_pairs = 64);

}  // namespace sluice::wire
