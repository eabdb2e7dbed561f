#include <algorithm>
#include <array>

#include "store/decide_one.h"
#include "store/draft.h"
#include "store/former_keys.h"
#include "store/mark.h"
#include "store/refund.h"
#include "store/request.h"
#include "store/reset.h"

// What a charge cost in the end, said once.
namespace sluice::store {

namespace {

// As a rule in the directory of rules: what shows in lists of keys.
constexpr std::string_view kMarks = "@settled";

Fingerprint MarkOf(const TableCore& core, const Receipt& receipt) {
  const std::array<char, 16> bytes = IdBytes(receipt);
  const core::KeyPart part{
      .attribute = {}, .type = core::AttributeType::kText, .value = {bytes.data(), bytes.size()}};
  return core.hash.Of(kMarks, {.rule = kMarks, .formerly = {}, .parts = {&part, 1}},
                      {.algorithm = core::Algorithm::kConcurrency});
}

class ForcedCall final : public CheckCall {
 public:
  void OnAnswered() noexcept override {}
};

// Charges the key whatever its limit: what is above it is paid back before the next grant.
void Force(TableCore& core, const Turn& turn, const SettleCall& call, Units units) {
  Check check{.key = call.key, .quota = call.quota, .cost = {.units = units}};
  check.quota.limit = kMaxUnits;
  CheckAnswer answer;
  ForcedCall forced;
  forced.checks = {&check, 1};
  forced.answers = {&answer, 1};
  AdoptFormer(core, turn, call.key, call.quota, nullptr);
  const Fingerprint key = core.hash.Of(call.key.rule, call.key, call.quota);
  if (IsPlain(forced)) {
    DecideOne(core, turn, forced, key);
  } else {
    Request(core, turn, forced, {&key, 1}).Decide();
  }
}

}  // namespace

void SettleCharge(TableCore& core, const Turn& turn, SettleCall& call) {
  const TableNow& now = turn.now;
  const TableInstant charged{Duration(call.receipt.charged_at_ns)};
  if (call.receipt.nonce == 0 || call.receipt.store_id != core.id || charged < TableInstant{} ||
      charged > now.line || call.quota.unlimited || call.units < 0 || call.charged < 0) {
    call.error = StoreError::kNotFound;
    return;
  }
  // What was charged before a reset counted until then.
  const TableInstant reset = LastReset(core, turn, call.key, call.quota);
  const TableInstant used_until = charged <= reset ? reset : UsedUntil(call.quota, charged, now);
  const TableInstant open_until = call.open_for == Duration{}
                                      ? used_until
                                      : charged + std::min(call.open_for, core::kLongestHorizon);
  call.settled = call.charged;
  if (now.line >= std::max(used_until, open_until)) {
    return;  // Nothing could change any more, and so nothing need be remembered.
  }
  if (now.line < open_until) {
    call.settled = call.units;
  }
  const auto mark = WriteMark(core, turn,
                              {.fingerprint = MarkOf(core, call.receipt),
                               .rule = kMarks,
                               .number = static_cast<std::uint64_t>(call.settled),
                               .until = std::max(used_until, open_until)},
                              ExistingMark::kStays);
  if (!mark) {
    call.error = StoreError::kUnavailable;
    return;
  }
  if (!mark->is_new) {
    call.settled = static_cast<Units>(mark->number);  // At what it was settled before.
    return;
  }
  if (call.settled < call.charged && now.line < used_until) {
    RefundKey(core, turn, call.key, call.quota, call.charged - call.settled, charged);
  } else if (call.settled > call.charged) {
    Force(core, turn, call, call.settled - call.charged);
  }
}

}  // namespace sluice::store
