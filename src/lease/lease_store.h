#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "base/clock.h"
#include "lease/borrower.h"
#include "lease/lease_metrics.h"
#include "net/timer_wheel.h"
#include "store/key_store.h"
#include "store/loop_places.h"

namespace sluice::net {
class EventLoop;
}  // namespace sluice::net

namespace sluice::lease {

struct LeaseSettings {
  std::size_t keys = 100'000;  // The most keys that one loop may know; about 700 bytes each.
};

// Two tiers: what a shared store knows, and what this node decides without asking it. By each
// check's `sync`:
//
//   exact  The shared store is asked. A call that has no other check goes there as it is.
//   lease  Units are borrowed from the shared store, in a check like any other that costs as much,
//          and requests are decided by them while they last; so one call pays for many requests.
//          What is not needed is given back by its receipt. Where nothing is held, and where
//          borrowing is not worth it (lease_policy.h), the shared store is asked. So are all checks
//          with a ban or a receipt, those in shadow, and every peek.
//   local  The node's own table decides.
//
// Of a request under all or nothing, what is decided here is reserved first, and returned if the
// rest is denied.
//
// Of fixed windows no more than the limit passes, over all nodes, however calls are delayed or lost
// (grants.cc says why). Of all others no more than the algorithm promises for any span of time,
// plus what is held, an eighth of the limit, and as much on its way back; a node that counts others
// wrongly holds more or less of it. What nodes hold is not used if they die, and denied to others
// until the window ends or the bucket refills. A key that is made fresh (Reset) may pass what other
// nodes hold of it too.
//
// Answers by what is held: `limit` and `reset_after` are those that the shared store reported last,
// and `remaining` is what it reported then plus what is held now.
//
// Verbs are called on a loop's thread and answered on it. Each loop has its own book, created by
// Attach(), so that no decision takes a lock; a thread without one asks the shared store.
class LeaseStore final : public store::KeyStore {
 public:
  // All outlive it. `local` answers during the verb; `nodes`: how many share `shared`.
  LeaseStore(store::KeyStore& shared, store::KeyStore& local, const std::atomic<int>& nodes,
             const base::Clock& clock, LeaseSettings settings);
  ~LeaseStore() override;

  // One loop's book, until it is destroyed: on the loop's thread or after it ended, before loop and
  // store, and once the shared store has answered all that was asked on it.
  class Attachment {
   public:
    // nullptr: there is no loop, so one book, and the caller calls Tick().
    Attachment(LeaseStore& store, net::EventLoop* loop);
    ~Attachment();
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;

    // Gives back unused units. A loop calls it by itself.
    void Tick();
    // Stops borrowing and gives everything back. Any thread.
    void Drain();

    [[nodiscard]] std::size_t keys() const { return borrower_->keys(); }

   private:
    friend class LeaseStore;

    // Calls `work(borrower)` on the book's thread, unless the book is gone by then.
    template <class Work>
    void OnLoop(Work work);
    void ArmTick();

    LeaseStore& store_;
    net::EventLoop* const loop_;
    std::shared_ptr<Borrower> borrower_;
    std::optional<net::Timer> tick_;
    std::size_t place_ = 0;
  };
  [[nodiscard]] std::unique_ptr<Attachment> Attach(net::EventLoop* loop) {
    return std::make_unique<Attachment>(*this, loop);
  }

  [[nodiscard]] const LeaseMetrics& metrics() const { return ground_.metrics; }
  // Whether nothing is held and nothing is being given back. Any thread.
  [[nodiscard]] bool idle() const {
    return ground_.metrics.held() == 0 && ground_.under_way.load(std::memory_order_relaxed) == 0;
  }

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
  // Of the calling thread; nullptr if it has none.
  [[nodiscard]] Attachment* Own() const;
  // Where a verb about one key goes.
  [[nodiscard]] store::KeyStore& StoreOf(core::Sync sync) const {
    return sync == core::Sync::kLocal ? ground_.local : ground_.shared;
  }
  [[nodiscard]] store::Fingerprint FingerprintOf(const core::KeyView& key,
                                                 const core::Quota& quota) const {
    return store::KeyHash(ground_.secret).Of(key.rule, key, quota);
  }
  // Makes this loop forget its denial of the key.
  void ForgetDenial(core::Sync sync, const core::KeyView& key, const core::Quota& quota);
  template <class Work>
  void EachBook(const core::KeyView& key, const core::Quota& quota, Work work);

  Ground ground_;
  store::LoopPlaces<Attachment> attached_;
};

}  // namespace sluice::lease
