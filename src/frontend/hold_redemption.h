#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "frontend/redeemed.h"
#include "service/limiter_service.h"
#include "signing/keyring.h"
#include "store/key_store.h"

namespace sluice::frontend {

// Gives holds back, or renews them, as their holder asks over any protocol. Both may be said again.
// Owned by its sender, alive and unmoved until OnRedeemed(). One thread.
class HoldRedemption {
 public:
  HoldRedemption(service::LimiterService& service, const signing::Keyring* keys, bool renew);
  HoldRedemption(const HoldRedemption&) = delete;
  HoldRedemption& operator=(const HoldRedemption&) = delete;
  virtual ~HoldRedemption();

  // One more, `name` and `id` as the answer to a check has them; at most kMaxChecksPerCall. False,
  // with nothing added: no answer gave them.
  [[nodiscard]] bool Add(std::string_view name, std::string_view id);
  [[nodiscard]] std::size_t asked() const { return asked_; }

  // OnRedeemed() comes once, during this or later.
  void Redeem(store::StoreCall::Deadline deadline = store::StoreCall::Deadline::max());
  // The last thing done with it.
  virtual void OnRedeemed() noexcept = 0;

  // Then: how many were still there.
  [[nodiscard]] std::size_t done() const { return done_; }
  // kNotFound: renewing, and one of them is gone.
  [[nodiscard]] Redeemed outcome() const;
  [[nodiscard]] bool renews() const { return renew_; }

 private:
  class One;
  void CloseOne(store::StoreError error);

  service::LimiterService& service_;
  const signing::Keyring* const keys_;
  const bool renew_;
  std::vector<std::unique_ptr<One>> calls_;
  std::size_t asked_ = 0;  // With those that are gone for sure.
  // One more than the calls open while they are being sent, so that the last to be answered is not
  // taken for the last of all.
  std::size_t open_ = 0;
  std::size_t done_ = 0;
  store::StoreError failure_ = store::StoreError::kNone;
};

}  // namespace sluice::frontend
