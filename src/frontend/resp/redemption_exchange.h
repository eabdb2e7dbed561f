#pragma once

#include <memory>
#include <string>

#include "frontend/charge_redemption.h"
#include "frontend/hold_redemption.h"
#include "frontend/resp/exchange.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

// SLUICE.RELEASE, RENEW, SETTLE, and REFUND of a receipt: what an answer gave out comes back.
class RedemptionExchange final : public Exchange {
 public:
  explicit RedemptionExchange(Pool<RedemptionExchange>& pool);
  ~RedemptionExchange() override;

  // What comes back, to be filled; the one or the other.
  [[nodiscard]] HoldRedemption& StartHolds(const FrontEnd& front_end, bool renew);
  [[nodiscard]] ChargeRedemption& StartCharges(const FrontEnd& front_end, ChargeKind kind);

  void Begin(Connection& connection, wire::RespVersion version) {
    Start(connection, false);
    version_ = version;
    answer_.clear();
  }
  void Redeem();
  void Render(std::string& out) const override { out += answer_; }
  void Return() noexcept override;

 private:
  class Holds;
  class Charges;

  Pool<RedemptionExchange>& pool_;
  wire::RespVersion version_ = wire::RespVersion::k2;
  std::unique_ptr<Holds> holds_;
  std::unique_ptr<Charges> charges_;
  std::string answer_;
};

}  // namespace sluice::frontend::resp
