#pragma once

#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "wire/scalar_object.h"

namespace sluice::wire {

// The content of a check's body. The text belongs to the CheckJson that read it.
struct CheckRequest {
  std::vector<Attribute> attributes;  // In order, without null members.
  Cost cost;                          // 1 if absent.
  bool peek = false;
  bool wait = false;
  bool reserve = false;
  bool receipt = false;
};

// The body of a check: {"user_id": "u_42", "cost": 1}. Every member is an attribute, except the
// reserved words cost, peek, wait, reserve, receipt and attributes. Inside {"attributes": {...}} no
// word is reserved. A reserved word that is null is absent. Keep one per request in flight and
// reuse it. One thread.
class CheckJson {
 public:
  CheckJson();

  // `body` need not outlive the call. After an error, request() is unspecified.
  [[nodiscard]] tl::expected<void, JsonProblem> Parse(std::string_view body);

  [[nodiscard]] const CheckRequest& request() const { return request_; }

 private:
  ScalarObject object_;
  CheckRequest request_;
};

// The cost in `member`: an integer from 0 to kMaxUnits, or the problem. 1 for null.
[[nodiscard]] tl::expected<Cost, JsonProblem> CostOf(const JsonMember& member,
                                                     std::string_view json);
// The text of a member that must be a non-empty string; "" for null.
[[nodiscard]] tl::expected<std::string_view, JsonProblem> TextOf(const JsonMember& member,
                                                                 std::string_view json);

// The boolean in `member`, or the problem. False for null.
[[nodiscard]] tl::expected<bool, JsonProblem> TruthOf(const JsonMember& member,
                                                      std::string_view json);

}  // namespace sluice::wire
