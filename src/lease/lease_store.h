#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
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

// Two tiers: a shared store, and the decisions that this node makes without asking it. The `sync`
// of each check selects one:
//
//   exact  The shared store is asked. A call that has no other check goes there as it is.
//   lease  Units are borrowed from the shared store, in a check like any other that costs as much,
//          and requests are decided by them while they last; so one call pays for many requests.
//          What is not needed is given back by its receipt. Where nothing is held, and where
//          borrowing is not worth it (lease_policy.h), the shared store is asked. So are all checks
//          with a ban or a receipt, those in shadow, and every peek.
//   local  The node's own table decides.
//
// For an all-or-nothing request, the node reserves its own part first, and returns it if the rest
// is denied.
//
// Of a fixed window no more than the limit passes over all nodes, even if calls are delayed or lost
// (grants.cc says why). Of all others no more passes than the algorithm promises for any span of
// time, plus an eighth of the limit that nodes hold, and as much that is being given back. A node
// that counts the other nodes wrongly holds more or less. If a node dies, the units that it holds
// are not used, and other nodes are denied them until the window ends or the bucket refills. After
// a Reset, other nodes may still spend the units that they hold of the key.
//
// In an answer from held units, `limit` and `reset_after` are those that the shared store reported
// last, and `remaining` is its last report plus the held units.
//
// Verbs are called and answered on the thread of a loop. Each loop has its own book, created by
// Attach(), so no decision takes a lock. A thread without a book asks the shared store.
class LeaseStore final : public store::KeyStore {
 public:
  // All outlive it. `local` answers during the verb. `nodes`: how many nodes share `shared`.
  LeaseStore(store::KeyStore& shared, store::KeyStore& local, const std::atomic<int>& nodes,
             const base::Clock& clock, LeaseSettings settings);
  ~LeaseStore() override;

  // One loop's book. It is destroyed on the loop's thread or after the loop has ended, before loop
  // and store, and once the shared store has answered all of its calls.
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

  // Collects what the books of all loops know of a key with `sync: lease`, and calls `done` with it
  // on the calling thread: during this or later, or never if its loop ends before. A thread without
  // a book learns nothing. Asks no store. For operators: it takes a lock and allocates.
  void Report(const core::KeyView& key, const core::Quota& quota,
              std::function<void(const BorrowedUnits&)> done);

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
