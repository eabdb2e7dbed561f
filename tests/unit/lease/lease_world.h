#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lease/lease_store.h"
#include "store/table.h"
#include "support/late_store.h"
#include "support/manual_clock.h"
#include "support/store_calls.h"

namespace sluice::lease {

// Passes everything on, and sees it; or is away.
class WatchedStore final : public store::KeyStore {
 public:
  explicit WatchedStore(store::KeyStore& inner) : inner_(inner) {}

  void CheckMany(std::span<store::CheckCall* const> batch) override {
    for (store::CheckCall* const call : batch) {
      ++checks;
      asked = call->checks;
      largest = std::max(largest, call->checks[0].cost.units);
      if (is_away) {
        call->error = store::StoreError::kUnavailable;
        call->OnAnswered();
      } else {
        inner_.CheckMany({&call, 1});
      }
    }
  }
  void Settle(store::SettleCall& call) override {
    ++settles;
    settled_quota = call.quota;
    if (is_away) {
      call.error = store::StoreError::kUnavailable;
      call.OnAnswered();
    } else {
      inner_.Settle(call);
    }
  }
  void Refund(store::RefundCall& call) override { inner_.Refund(call); }
  void Reset(store::ResetCall& call) override { inner_.Reset(call); }
  void Release(store::HoldCall& call) override { inner_.Release(call); }
  void Renew(store::HoldCall& call) override { inner_.Renew(call); }

  bool is_away = false;
  int checks = 0;
  int settles = 0;
  Units largest = 0;
  core::Quota settled_quota;
  std::span<const store::Check> asked;  // Last: good while the sender's call is.

 private:
  store::KeyStore& inner_;
};

inline std::unique_ptr<store::Table> MakeTestTable(const base::Clock& clock) {
  auto table = store::Table::Create({.path = "", .keys = 1024, .huge_pages = false}, clock);
  return *std::move(table);
}

// A node over a shared table that answers when it is told to.
struct LeaseWorld {
  explicit LeaseWorld(std::size_t keys = 64)
      : store(late, *local, nodes, clock, {.keys = keys}), book(store.Attach(nullptr)) {}
  ~LeaseWorld() { late.PumpAll(); }

  // 1,000 a minute, unless said otherwise.
  static core::Quota Window(Units limit = 1'000) {
    core::Quota quota;
    quota.algorithm = core::Algorithm::kFixedWindow;
    quota.limit = limit;
    quota.window = std::chrono::minutes(1);
    return quota;
  }
  store::Check Lent(const core::Quota& quota, Units cost = 1) const {
    return {.key = key.view(), .quota = quota, .cost = {cost}, .sync = core::Sync::kLease};
  }

  void Send(store::CheckCall& call) {
    store::CheckCall* const one = &call;
    store.CheckMany({&one, 1});
  }
  // Asks, and lets everything be answered.
  store::CheckAnswer Ask(const store::Check& check) {
    support::OwnedCheckCall call;
    call.Add(check);
    Send(call);
    late.PumpAll();
    last_error = call.error;
    return call.own_answers[0];
  }
  // A request every so often: how many were allowed.
  int AskMany(int count, const core::Quota& quota, Duration every = std::chrono::milliseconds(10)) {
    int allowed = 0;
    for (int i = 0; i < count; ++i) {
      clock.Advance(every);
      allowed += Ask(Lent(quota)).decision.allowed ? 1 : 0;
    }
    return allowed;
  }
  void Tick(int count = 40) {
    for (int i = 0; i < count; ++i) {
      clock.Advance(Borrower::kTick);
      book->Tick();
      late.PumpAll();
    }
  }
  // What the shared store says is left.
  Units LeftInStore(const core::Quota& quota) {
    support::OwnedCheckCall call;
    call.Add({.key = key.view(), .quota = quota, .cost = {}});
    call.peek = true;
    store::CheckCall* const one = &call;
    shared->CheckMany({&one, 1});
    return call.own_answers[0].decision.remaining;
  }
  [[nodiscard]] std::uint64_t Count(LeaseCount what) const { return store.metrics().Read(what); }

  support::ManualClock clock;
  std::unique_ptr<store::Table> shared = MakeTestTable(clock);
  std::unique_ptr<store::Table> local = MakeTestTable(clock);
  WatchedStore watched{*shared};
  support::LateStore late{watched, 1};
  std::atomic<int> nodes{1};
  support::OwnedKey key{"u"};
  support::OwnedKey other_key{"u", "other"};
  store::StoreError last_error = store::StoreError::kNone;
  LeaseStore store;
  std::unique_ptr<LeaseStore::Attachment> book;
};

}  // namespace sluice::lease
