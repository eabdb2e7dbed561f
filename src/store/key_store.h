#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sluice/decision.h"
#include "sluice/time.h"

#include "core/ban.h"
#include "core/key.h"
#include "core/quota.h"
#include "store/receipt.h"

// The interface between deciding and storing. The deciding side (service/) knows rules and
// requests; the storing side (store/, redis/, lease/) knows keys, quotas and time. They share only
// this and sluice/decision.h.
//
// Every verb is a call object. Its sender owns it, keeps it alive and unmoved, and gets it back
// through OnAnswered(): once, either during the verb or later, always on the thread that sent it.
// So a store in memory and one across a network look the same, no decision allocates, and a sender
// that cannot wait gives a deadline.
//
// tests/conformance holds every store to what is written here.
namespace sluice::store {

// The most checks that one call may have, so that a store can keep their working room on the
// stack. A call with more is answered kUnsupported, whole.
inline constexpr std::size_t kMaxChecksPerCall = 64;

// One question: may this key spend this cost now?
struct Check {
  core::KeyView key;
  core::Quota quota;  // Of all checks of one request with the same `priority`.
  Cost cost;
  bool shadow = false;        // Never affects the others; charged if they and it would allow.
  bool want_receipt = false;  // Ask for what Settle() must name. Not of concurrency: holds are
                              // released.
  // The ban of the key. A banned key is denied every check, with kBanned. Each denial of this check
  // counts towards a ban; a denial of a peek does not, nor that of a shadow check in a denied
  // request. Alive until the call is answered. A store without bans ignores it.
  const core::Ban* ban = nullptr;
  core::Sync sync = core::Sync::kExact;  // For lease/ alone: other stores are what they are.
};

enum class StoreError : std::uint8_t {
  kNone,
  kUnsupported,  // This store does not build the verb yet.
  kUnavailable,  // Not reached, or not in time. Nothing says whether it ran, unless:
  kDidNotRun,    // Provably not run: may be sent again.
  kNotFound,     // Unknown hold, reservation, receipt or ban.
};

using RequestId = std::uint64_t;

struct CheckAnswer {
  StoreError error = StoreError::kNone;  // Unless kNone, `decision` says nothing.
  Decision decision{};
  bool charged = false;
  std::uint32_t shard = 0;  // The failure domain that answered.
  HoldId hold = 0;
  Receipt receipt{};
};

// The answer after its charge was taken back, if the store has no better one.
inline void Uncharge(const Check& check, CheckAnswer& answer) {
  if (answer.charged) {
    answer.charged = false;
    answer.hold = 0;
    answer.receipt = {};
    answer.decision.remaining =
        std::min(answer.decision.limit, answer.decision.remaining + check.cost.units);
  }
}

// kAll: if one enforced check denies, nothing is charged. kEach: every check by itself.
enum class Atomicity : std::uint8_t { kAll, kEach };

// The common part of all verbs.
class StoreCall {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  StoreCall() = default;
  StoreCall(const StoreCall&) = delete;
  StoreCall& operator=(const StoreCall&) = delete;
  virtual ~StoreCall() = default;

  // The answer is in the call. This is the last thing that a store does with it: the sender may
  // reuse or destroy it here.
  virtual void OnAnswered() noexcept = 0;

  // In.
  Deadline deadline = Deadline::max();  // A store that cannot answer by then answers kUnavailable.
  RequestId request_id = 0;             // Set by a store that may take back a part of its own.
  // Out.
  StoreError error = StoreError::kNone;  // Of the call as a whole.
  WallInstant now{};                     // The store's wall clock when it decided.
};

// One request's checks. `answers` has the size of `checks` and keeps its order. One key may
// occur twice: the later check then sees what the earlier one would charge.
class CheckCall : public StoreCall {
 public:
  // In.
  std::span<const Check> checks;
  Atomicity atomicity = Atomicity::kAll;
  bool peek = false;  // Judge and say what is left; change nothing.
  // Out. On a denied kAll verdict the checks that would have allowed show allowed,
  // uncharged, with the numbers of now.
  std::span<CheckAnswer> answers;
};

class RefundCall : public StoreCall {
 public:
  core::KeyView key;
  core::Quota quota;
  Units units = 0;                       // Clamped: a key never gets more than its whole quota.
  core::Sync sync = core::Sync::kExact;  // As in Check.
  bool is_undo =
      false;  // The same store has just granted these units to this thread, which did not use them.
};

// Charges from before no longer count: their settlement gives nothing back afterwards.
class ResetCall : public StoreCall {
 public:
  core::KeyView key;
  core::Quota quota;
  // The longest that a charge of the key may count, if that is longer than by `quota`: of a bucket
  // whose callers have different numbers.
  Duration counts_for{};
  bool has_receipts = true;              // Receipts may exist for the key's charges.
  core::Sync sync = core::Sync::kExact;  // As in Check.

  // For how long the reset must be remembered: no earlier charge counts longer than that. Zero
  // where no charge has a receipt.
  [[nodiscard]] Duration remembered_for() const;
};

inline Duration ResetCall::remembered_for() const {
  if (!has_receipts || !core::Is<&core::AlgorithmTraits::has_receipts>(quota.algorithm)) {
    return {};
  }
  return std::max(core::LongestCount(quota), counts_for);
}

// release and renew. Both are idempotent: kNotFound for a hold that is gone.
class HoldCall : public StoreCall {
 public:
  core::KeyView key;
  core::Quota quota;
  HoldId hold = 0;
  StoreId store_id = 0;  // The store that granted it. kNotFound in another; 0 is tried in any.
};

// Settles one charge at its actual cost, once. The difference goes back to the key or is taken from
// it, even above its limit; the key then pays the excess back before it is granted anything again.
// A refund is a settlement at 0.
class SettleCall : public StoreCall {
 public:
  // In.
  core::KeyView key;
  core::Quota quota;  // The quota by which it was charged.
  Receipt receipt;
  Units charged = 0;    // The units that the receipt is for.
  Units units = 0;      // The actual cost. 0 to kMaxUnits.
  Duration open_for{};  // From the charge on; after that it is settled at what was charged. 0: as
                        // long as it counts: a window, or the time that a bucket takes to refill;
                        // at most until the key's next reset.
  core::Sync sync = core::Sync::kExact;  // As in Check.
  // Out: the cost at which it is settled, by this call or an earlier one. A charge that no longer
  // counts is not given back, but shows as settled. kNotFound: no such charge. A store may not know
  // this of some charges.
  Units settled = 0;
};

// ban and unban, by rule and key parts alone: the quota does not matter.
class BanCall : public StoreCall {
 public:
  core::KeyView key;
  Duration duration{};  // ban: from now. A longer ban stays as it is.
};

struct BannedKey {
  core::Key key;  // Without parts if the store could not keep them.
  WallInstant since{};
  WallInstant until{};
};

class BansCall : public StoreCall {
 public:
  std::vector<BannedKey> bans;  // Out: all active bans, in no order.
};

// Safe to share between threads; calls of one thread are executed in order.
class KeyStore {
 public:
  virtual ~KeyStore() = default;

  // The requests of one turn of a loop, each judged by itself; the clock is read once. Verdicts are
  // serialisable: equal to some sequential order.
  virtual void CheckMany(std::span<CheckCall* const> batch) = 0;
  virtual void Refund(RefundCall& call) = 0;
  virtual void Reset(ResetCall& call) = 0;
  virtual void Release(HoldCall& call) = 0;
  // Its hold expires the quota's window from now, whenever it would have expired.
  virtual void Renew(HoldCall& call) = 0;

  // Part of the interface; a store that does not implement them answers kUnsupported.
  virtual void Settle(SettleCall& call) { AnswerUnsupported(call); }
  virtual void Ban(BanCall& call) { AnswerUnsupported(call); }
  // kNotFound: it was not banned.
  virtual void Unban(BanCall& call) { AnswerUnsupported(call); }
  virtual void ListBans(BansCall& call) { AnswerUnsupported(call); }

 private:
  static void AnswerUnsupported(StoreCall& call) {
    call.error = StoreError::kUnsupported;
    call.OnAnswered();
  }
};

}  // namespace sluice::store
