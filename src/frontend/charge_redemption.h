#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"
#include "sluice/decision.h"

#include "frontend/key_token.h"
#include "frontend/redeemed.h"
#include "service/limiter_service.h"
#include "service/settle_call.h"
#include "signing/keyring.h"

namespace sluice::frontend {

// Says what a reservation cost in the end, or takes back what a receipt names, as whoever has it
// asks over any protocol. Owned by its sender, alive and unmoved until OnRedeemed(). One thread.
class ChargeRedemption : private service::SettleCall {
 public:
  ChargeRedemption(service::LimiterService& service, const signing::Keyring* keys, ChargeKind kind)
      : kind_(kind), service_(service), keys_(keys) {}

  // Of a reservation: what it cost, 0 to kMaxUnits; and of an attribute that is a rule's cost.
  void CostsInAll(Units units) { cost = units; }
  void CostsOf(std::string_view attribute, std::string_view units);

  // False: `token` is none of this kind.
  [[nodiscard]] bool Read(std::string_view token);

  // OnRedeemed() comes once, during this or later.
  void Redeem();
  // The last thing done with it.
  virtual void OnRedeemed() noexcept = 0;

  // Then. Of `results()` those count that have no error.
  [[nodiscard]] Redeemed outcome() const;
  [[nodiscard]] std::span<const service::Charge> results() const { return charges_; }
  [[nodiscard]] ChargeKind kind() const { return kind_; }

 private:
  void OnDone() noexcept override { OnRedeemed(); }

  const ChargeKind kind_;
  service::LimiterService& service_;
  const signing::Keyring* const keys_;
  signing::Opened opened_ = signing::Opened::kMalformed;
  std::deque<std::string> texts_;  // That costs_ views.
  std::vector<Attribute> costs_;
  std::vector<ChargeToken> tokens_;
  std::vector<std::vector<core::KeyPart>> views_;
  std::vector<service::Charge> charges_;
};

}  // namespace sluice::frontend
