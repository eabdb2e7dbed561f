#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sluice/attribute.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/request_id.h"
#include "base/trace_parent.h"
#include "service/completion.h"
#include "service/hold_change.h"
#include "service/key_change.h"
#include "service/rule_check.h"
#include "service/settlement.h"
#include "service/throttle_check.h"
#include "store/key_store.h"

namespace sluice::service {

class Operation;

using Completion = CompletionOf<Operation>;
using NoCompletion = NoCompletionOf<Operation>;

// One request to the service, from its bytes to its outcome: a verb with its input and output, the
// bytes that it views, and the deadline.
//
// Its owner keeps it alive and unmoved from Submit() until OnCompleted(), and reuses it for one
// request after another. The check by rules, by far the most frequent verb, always exists and keeps
// its memory, so a request in steady state allocates nothing. One thread.
class Operation {
 public:
  using Deadline = store::StoreCall::Deadline;
  enum class Verb : std::uint8_t {  // In the order of other_.
    kRuleCheck,
    kThrottleCheck,
    kKeyChange,
    kSettlement,
    kHoldChange,
    kBanList,
  };

  // `completion` outlives it.
  explicit Operation(Completion& completion) : completion_(completion), rule_check_(*this) {}
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Room for what a front end reads, which the verb views; and by when a store must have answered.
  base::Arena arena;
  std::vector<Attribute> attributes;
  Deadline deadline = Deadline::max();
  base::RequestId request_id;
  base::TraceParent trace;
  std::string_view listener;  // That received it, for records. Outlives the operation.

  // Prepares for another request.
  void Clear() {
    arena.Clear();
    attributes.clear();
    deadline = Deadline::max();
    request_id.Clear();
    trace.Clear();
  }

  // Makes this the operation's verb, and returns it with its fields as in a new one.
  template <class Kind>
  Kind& Ask() {
    if constexpr (std::is_same_v<Kind, RuleCheck>) {
      if (verb() != Verb::kRuleCheck) [[unlikely]] {
        other_.emplace<std::monostate>();
      }
      rule_check_.Clear();
      return rule_check_;
    } else if (std::is_same_v<Kind, ThrottleCheck> && verb() == Verb::kThrottleCheck) {
      return Get<Kind>();  // Set() gives it all its fields.
    } else {
      return other_.emplace<Kind>(*this);
    }
  }
  // The verb. Requires that it is of this kind.
  template <class Kind>
  [[nodiscard]] Kind& Get() {
    if constexpr (std::is_same_v<Kind, RuleCheck>) {
      SLUICE_DCHECK(verb() == Verb::kRuleCheck);
      return rule_check_;
    } else {
      Kind* const kind = std::get_if<Kind>(&other_);
      SLUICE_DCHECK(kind != nullptr);
      return *kind;
    }
  }
  [[nodiscard]] Verb verb() const { return static_cast<Verb>(other_.index()); }

  // For verbs: the outcome is there. The operation may be gone afterwards.
  void Complete() noexcept { completion_.OnCompleted(*this); }

 private:
  Completion& completion_;
  RuleCheck rule_check_;
  std::variant<std::monostate, ThrottleCheck, KeyChange, Settlement, HoldChange, BanList> other_;
};

}  // namespace sluice::service
