#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontend/charge_redemption.h"
#include "frontend/grpc/calls.h"
#include "frontend/grpc/exchange.h"
#include "frontend/hold_redemption.h"

namespace sluice::frontend::grpc {

// sluice.v1.RateLimit/Release, Renew, Settle and Refund: what an answer gave out comes back.
class RedemptionExchange final : public Exchange {
 public:
  explicit RedemptionExchange(Pool<RedemptionExchange>& pool);
  ~RedemptionExchange() override;

  // What is wrong with the request; kOk: it may be redeemed. `method` is one of the four.
  [[nodiscard]] Status Begin(Connection& connection, service::LimiterService& service,
                             const signing::Keyring* keys, Method method, std::string_view bytes);
  void Redeem();
  store::StoreCall::Deadline deadline = store::StoreCall::Deadline::max();

  [[nodiscard]] Status Render(std::string& message) override;
  void Return() noexcept override;

 private:
  class Holds;
  class Charges;

  [[nodiscard]] Status ReadHolds(std::string_view bytes);
  [[nodiscard]] Status ReadSettlement(std::string_view bytes);
  [[nodiscard]] Status ReadRefund(std::string_view bytes);

  Pool<RedemptionExchange>& pool_;
  std::unique_ptr<Holds> holds_;
  std::unique_ptr<Charges> charges_;
};

}  // namespace sluice::frontend::grpc
