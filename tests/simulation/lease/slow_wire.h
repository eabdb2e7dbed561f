#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>

#include "lease/lease_entry.h"
#include "store/key_store.h"
#include "support/manual_clock.h"

namespace sluice::lease {

// A node's way to a store that others use too: what is sent is decided later, and answered later
// still, or not at all; then it is answered kUnavailable after a while. What was sent is carried
// out even if the node that sent it is gone. Everything is drawn from `random`, and happens in
// events of the world's time.
class SlowWire final : public store::KeyStore {
 public:
  struct Faults {
    int lost_per_thousand = 0;      // Questions that never arrive,
    int unheard_per_thousand = 0;   // and answers.
    int doubled_per_thousand = 0;   // Settlements that arrive twice.
    int slow_per_thousand = 0;      // Ways that take up to `longest`.
    bool slow_settlements = false;  // All of these are.
    Duration longest{};
    bool times_out = true;  // After `timeout`; else only what never comes is given up, in the end.
    Duration timeout = std::chrono::milliseconds(20);
    // Of the store's or the node's, that the checkers must find: an end told as if it were counted
    // from the answer's arrival; units that go back into whatever window there is.
    bool ends_late = false;
    bool gives_back_blindly = false;
  };
  using Later = std::function<void(Duration after, std::function<void()> work)>;

  SlowWire(store::KeyStore& shared, const Faults& faults, std::mt19937_64& random, Later later)
      : shared_(shared), faults_(faults), random_(random), later_(std::move(later)) {}
  // All that is under way is answered kUnavailable.
  ~SlowWire() override { Cut(); }
  void Cut();

  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  void CheckMany(std::span<store::CheckCall* const> batch) override;
  void Settle(store::SettleCall& call) override;
  // Not of a node's doing here.
  void Refund(store::RefundCall& call) override { shared_.Refund(call); }
  void Reset(store::ResetCall& call) override { shared_.Reset(call); }
  void Release(store::HoldCall& call) override { shared_.Release(call); }
  void Renew(store::HoldCall& call) override { shared_.Renew(call); }

 private:
  struct Sent;
  struct SentCheck;
  struct SentSettle;

  [[nodiscard]] std::int64_t Draw(std::int64_t below);
  [[nodiscard]] Duration Way();
  void Carry(const std::shared_ptr<Sent>& sent, Duration way);

  store::KeyStore& shared_;
  const Faults& faults_;
  std::mt19937_64& random_;
  Later later_;
  std::uint64_t calls_ = 0;
  std::set<std::shared_ptr<Sent>> under_way_;
};

}  // namespace sluice::lease
