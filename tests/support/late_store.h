#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "store/key_store.h"

namespace sluice::support {

// A store that decides at once, as `inner` does, but answers later and out of order: what a
// sender must be able to live with. One thread. What it answers is kept apart from the
// call until then, so that a sender who reads too early reads nothing.
//
// The same seed gives the same order for the same calls and pumps. `inner` must answer
// during the verb.
class LateStore final : public store::KeyStore {
 public:
  LateStore(store::KeyStore& inner, std::uint64_t seed) : inner_(inner), random_(seed) {}

  // Answers one call, drawn from all that wait. False if none does.
  bool Pump();
  // Until none waits, those that answers send included.
  void PumpAll() {
    while (Pump()) {
    }
  }
  [[nodiscard]] std::size_t pending() const { return waiting_.size(); }

  void CheckMany(std::span<store::CheckCall* const> batch) override;
  void Refund(store::RefundCall& call) override;
  void Reset(store::ResetCall& call) override;
  void Release(store::HoldCall& call) override;
  void Renew(store::HoldCall& call) override;
  void Settle(store::SettleCall& call) override;
  void Ban(store::BanCall& call) override;
  void Unban(store::BanCall& call) override;
  void ListBans(store::BansCall& call) override;

 private:
  struct Waiting {
    store::StoreCall* call = nullptr;
    store::CheckCall* check = nullptr;    // The same, if it is one.
    store::SettleCall* settle = nullptr;  // The same.
    store::BansCall* bans = nullptr;      // The same.
    store::StoreError error = store::StoreError::kNone;
    WallInstant now{};
    std::vector<store::CheckAnswer> answers{};
    Units settled = 0;
    std::vector<store::BannedKey> banned{};
  };
  template <class Call>
  void Later(Call& call, void (store::KeyStore::*verb)(Call&));

  store::KeyStore& inner_;
  std::mt19937_64 random_;
  std::vector<Waiting> waiting_;
};

}  // namespace sluice::support
