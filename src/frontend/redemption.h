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
  kNotFound,     // No answer could have contained this token, or it is over.
  kUnsupported,  // The store in use cannot do this.
  kUnavailable,  // The store did not answer, so it is not known whether it was done.
};

// Tokens that callers send back over any protocol: holds to be released or renewed, or the charges
// of a receipt or a reservation. It reads their tokens into the operation of an exchange, which
// submits it, and then says how it went. One thread.
class Redemption {
 public:
  // `operation` outlives it.
  explicit Redemption(service::Operation& operation) : operation_(operation) {}

  // Makes the operation one on holds, none so far. `keys` sign their tokens; nullptr: no tokens
  // exist.
  void BeginHolds(service::HoldChange::Kind kind, const signing::Keyring* keys);
  // Adds one hold, with `name` and `id` from the answer to a check; at most kMaxChecksPerCall.
  // False, with nothing added: no answer contained them.
  [[nodiscard]] bool AddHold(std::string_view name, std::string_view id);

  // Makes the operation one on charges: to settle a reservation, or to refund a receipt.
  void BeginCharges(ChargeKind kind, const signing::Keyring* keys);
  // Of a reservation: its actual cost, 0 to kMaxUnits; also by attribute, for rules whose cost is
  // one.
  void CostsInAll(Units units);
  void CostsOf(std::string_view attribute, std::string_view units);
  // False: `token` is not of this kind.
  [[nodiscard]] bool ReadCharges(std::string_view token);

  // The result once the operation is complete. For holds, kNotFound: renewing, and one of them is
  // gone.
  [[nodiscard]] Redeemed outcome() const;
  // How many holds were still there.
  [[nodiscard]] std::size_t done() const { return operation_.Get<service::HoldChange>().done; }
  // Those without an error.
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
  std::size_t asked_ = 0;       // Holds, including those that are certainly gone.
  bool keys_are_late_ = false;  // The key of a token is not known yet.
};

}  // namespace sluice::frontend
