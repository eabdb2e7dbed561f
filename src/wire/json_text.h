#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice::wire {

// The kinds of problems of a JSON text.
enum class JsonFault : std::uint8_t {
  kSyntax,     // Not JSON (RFC 8259), or bytes after it.
  kNoObject,   // JSON, but not an object.
  kNested,     // An object or array where a scalar belongs.
  kDuplicate,  // A member given twice.
  kTooMany,    // More members than the limit.
  kTooLong,    // A name or value longer than the limit, or an empty name.
  kWrongType,  // A reserved member of another type than it must have.
  kCost,       // `cost` is not an integer from 0 to 999,999,999,999,999.
};

struct JsonProblem {
  JsonFault fault = JsonFault::kSyntax;
  std::string
      message;  // For people, with the position: `cost must not be negative (line 1, column 9)`.
  std::string member;      // Which member, or "".
  std::size_t offset = 0;  // Bytes before the position.
  int line = 0;            // From 1.
  int column = 0;          // From 1, in bytes.
};

// "invalid_json", "invalid_cost", ...: stable, for machines.
[[nodiscard]] std::string_view FaultName(JsonFault fault);

// A problem at `offset` of `json`. Computes line and column and appends them to `text`.
[[nodiscard]] JsonProblem ProblemAt(std::string_view json, std::size_t offset, JsonFault fault,
                                    std::string_view text, std::string_view member = {});

// Splits a JSON array into its elements, each as it is in `json`. Elements are not parsed, so an
// invalid one does not affect the others. Errors: not an array, more than `most` elements, unclosed
// brackets, bytes after the array. Allocates only in `elements`, which is replaced. Pure.
[[nodiscard]] tl::expected<void, JsonProblem> SplitJsonArray(
    std::string_view json, std::size_t most, std::vector<std::string_view>& elements);

}  // namespace sluice::wire
