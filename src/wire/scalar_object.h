#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "wire/json_text.h"

namespace sluice::wire {

enum class ScalarKind : std::uint8_t { kText, kInteger, kFraction, kBoolean, kNull };

// One member of an object of scalars. `text` is the value as an attribute: the string itself; an
// integer's digits (-0 is 0); a fraction's shortest decimal text, so that 1.50 and 1.5 are one, and
// 2.0 is 2; true or false; "" for null.
struct JsonMember {
  std::string_view name{};
  std::string_view text{};
  ScalarKind kind = ScalarKind::kNull;
  bool reserved = false;  // A reserved word, and not inside the nested object.
  bool fits = false;      // An integer that fits `integer`.
  std::int64_t integer = 0;
  std::size_t offset = 0;  // Where in the text the value begins.
};

struct ScalarObjectLimits {
  std::size_t members = 64;
  std::size_t name_bytes = 256;
  std::size_t value_bytes = 1024;
};

// Reads a JSON object of scalars, in order and without loss: the body of a check, an event of a
// replay. One member, `nested_name`, may itself be an object of scalars; its members are merged
// into the list. A name may occur only once, but a reserved word outside and the same name inside
// are different. Bounded in depth, members and length; UTF-8 is checked; never throws. Created once
// and reused, so it allocates nothing once warm. One thread.
class ScalarObject {
 public:
  explicit ScalarObject(std::string_view nested_name, std::vector<std::string> reserved = {},
                        const ScalarObjectLimits& limits = {});
  ~ScalarObject();
  ScalarObject(ScalarObject&&) noexcept;
  ScalarObject& operator=(ScalarObject&&) noexcept;

  // The members' text belongs to this object: `json` need not outlive the call.
  [[nodiscard]] tl::expected<void, JsonProblem> Read(std::string_view json);

  // Of the last Read() that succeeded; until the next.
  [[nodiscard]] std::span<const JsonMember> members() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A problem of the value of `member`, which was read from `json`.
[[nodiscard]] JsonProblem ProblemOf(const JsonMember& member, std::string_view json,
                                    JsonFault fault, std::string_view text);

}  // namespace sluice::wire
