#pragma once

#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "wire/scalar_object.h"

namespace sluice::wire {

// What the body of a check asks. The text belongs to the CheckJson that read it.
struct CheckRequest {
  std::vector<Attribute> attributes;  // In order; null members are absent.
  Cost cost;                          // 1 where not given.
  bool peek = false;
  bool wait = false;
  bool reserve = false;
  bool receipt = false;
};

// The body of a check: {"user_id": "u_42", "cost": 1}. Every member is an attribute but
// the reserved words cost, peek, wait, reserve, receipt and attributes; inside
// {"attributes": {...}} no word is reserved. A reserved word that is null is absent.
// Keep one per request under way and reuse it. One thread.
class CheckJson {
 public:
  CheckJson();

  // `body` may go away afterwards. On an error request() says nothing.
  [[nodiscard]] tl::expected<void, JsonProblem> Parse(std::string_view body);

  [[nodiscard]] const CheckRequest& request() const { return request_; }

 private:
  ScalarObject object_;
  CheckRequest request_;
};

// The cost that `member` holds: an integer from 0 to kMaxUnits, or the problem. For null: 1.
[[nodiscard]] tl::expected<Cost, JsonProblem> CostOf(const JsonMember& member,
                                                     std::string_view json);
// The text of a member that must be text, and not empty; null is "".
[[nodiscard]] tl::expected<std::string_view, JsonProblem> TextOf(const JsonMember& member,
                                                                 std::string_view json);

// The truth that `member` holds, or the problem. For null: false.
[[nodiscard]] tl::expected<bool, JsonProblem> TruthOf(const JsonMember& member,
                                                      std::string_view json);

}  // namespace sluice::wire
