#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sluice/decision.h"

#include "frontend/key_token.h"
#include "service/operation.h"
#include "signing/keyring.h"

namespace sluice::frontend {

// The result of redeeming a token.
enum class Redeemed : std::uint8_t {
  kDone,
  kNotFound,     // Nothing that was given out could be this, or it is over.
  kUnsupported,  // The store in use cannot do this.
  kUnavailable,  // The store did not answer: whether it was done is not known.
};

// Tokens that callers send back over any protocol: holds to be released or renewed, or the charges
// of a receipt or a reservation. It reads their tokens into the operation of an exchange, which
// submits it, and then says how it went. One thread.
class Redemption {
 public:
  // `operation` outlives it.
  explicit Redemption(service::Operation& operation) : operation_(operation) {}

  // The operation asks for holds from now on, none so far. `keys` seal their tokens; nullptr: none
  // were given out.
  void BeginHolds(service::HoldChange::Kind kind, const signing::Keyring* keys);
  // One more, `name` and `id` as the answer to a check has them; at most kMaxChecksPerCall. False,
  // with nothing added: no answer gave them.
  [[nodiscard]] bool AddHold(std::string_view name, std::string_view id);

  // The operation asks for charges from now on: to settle a reservation, or to refund a receipt.
  void BeginCharges(ChargeKind kind, const signing::Keyring* keys);
  // Of a reservation: what it cost, 0 to kMaxUnits; and of an attribute that is a rule's cost.
  void CostsInAll(Units units);
  void CostsOf(std::string_view attribute, std::string_view units);
  // False: `token` is not of this kind.
  [[nodiscard]] bool ReadCharges(std::string_view token);

  // Once the operation is complete. Of holds, kNotFound: renewing, and one of them is gone.
  [[nodiscard]] Redeemed outcome() const;
  // How many holds were still there.
  [[nodiscard]] std::size_t done() const { return operation_.Get<service::HoldChange>().done; }
  // Of these, those count that have no error.
  [[nodiscard]] std::span<const service::Charge> charges() const {
    return operation_.Get<service::Settlement>().charges;
  }

 private:
  void Clear(const signing::Keyring* keys);
  [[nodiscard]] Redeemed OutcomeOfHolds() const;
  [[nodiscard]] Redeemed OutcomeOfCharges() const;

  service::Operation& operation_;
  const signing::Keyring* keys_ = nullptr;
  ChargeKind kind_ = ChargeKind::kReservation;
  std::size_t asked_ = 0;       // Holds, with those that are gone for sure.
  bool keys_are_late_ = false;  // A token's key is not known here yet.
};

}  // namespace sluice::frontend
