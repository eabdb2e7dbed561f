#include "lease/lease_store.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "base/random.h"
#include "net/event_loop.h"

namespace sluice::lease {

namespace {

bool IsExact(const store::CheckCall* call) {
  return std::ranges::all_of(
      call->checks, [](const store::Check& check) { return check.sync == core::Sync::kExact; });
}

}  // namespace

LeaseStore::LeaseStore(store::KeyStore& shared, store::KeyStore& local,
                       const std::atomic<int>& nodes, const base::Clock& clock,
                       LeaseSettings settings)
    : ground_{.shared = shared,
              .local = local,
              .clock = clock,
              .nodes = nodes,
              .most_keys = settings.keys,
              .secret = store::DrawHashSecret()} {}

LeaseStore::~LeaseStore() = default;

LeaseStore::Attachment::Attachment(LeaseStore& store, net::EventLoop* loop)
    : store_(store),
      loop_(loop),
      borrower_(std::make_shared<Borrower>(store.ground_, base::UniqueNumber())) {
  if (loop_ != nullptr) {
    tick_.emplace([this] { Tick(); });
  }
  place_ = store_.attached_.Add(*this);
}

LeaseStore::Attachment::~Attachment() {
  store_.attached_.Remove(place_);
}

void LeaseStore::Attachment::Tick() {
  borrower_->Tick();
  ArmTick();
}

void LeaseStore::Attachment::ArmTick() {
  if (tick_.has_value() && !tick_->armed() && borrower_->has_work()) {
    loop_->ArmAfter(*tick_, Borrower::kTick);
  }
}

template <class Work>
void LeaseStore::Attachment::OnLoop(Work work) {
  if (loop_ == nullptr) {
    work(*borrower_);
    return;
  }
  loop_->Post([book = std::weak_ptr<Borrower>(borrower_), work] {
    if (const std::shared_ptr<Borrower> borrower = book.lock()) {
      work(*borrower);
    }
  });
}

void LeaseStore::Attachment::Drain() {
  OnLoop([](Borrower& borrower) {
    borrower.Drain();
    borrower.Tick();
  });
}

LeaseStore::Attachment* LeaseStore::Own() const {
  return attached_.Find([](const Attachment& attached) {
    return attached.loop_ == nullptr ||
           attached.loop_->context().get_executor().running_in_this_thread();
  });
}

void LeaseStore::CheckMany(std::span<store::CheckCall* const> batch) {
  // A call without other checks pays only for this test.
  Attachment* const own = std::ranges::all_of(batch, IsExact) ? nullptr : Own();
  if (own == nullptr) {
    ground_.shared.CheckMany(batch);
    return;
  }
  own->borrower_->CheckMany(batch);
  own->ArmTick();
}

template <class Work>
void LeaseStore::EachBook(const core::KeyView& key, const core::Quota& quota, Work work) {
  const store::Fingerprint fingerprint = FingerprintOf(key, quota);
  const Attachment* const own = Own();
  attached_.ForEach([&](Attachment& attached) {
    if (&attached == own) {
      work(*attached.borrower_, fingerprint);
    } else {
      attached.OnLoop([work, fingerprint](Borrower& borrower) { work(borrower, fingerprint); });
    }
  });
}

namespace {

// The books' reports as they come in. When the last book lets go of it, with a report or because
// its loop ended, `done` is posted to who asked.
class Reports {
 public:
  Reports(net::EventLoop* asker, std::function<void(const BorrowedUnits&)> done)
      : asker_(asker), done_(std::move(done)) {}
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports() {
    if (asker_ == nullptr) {
      done_(sum_);
    } else {
      asker_->Post([done = std::move(done_), sum = sum_] { done(sum); });
    }
  }

  void Take(Borrower& book, const store::Fingerprint& key, const core::Quota& quota) {
    const std::lock_guard lock(mutex_);
    book.Report(key, quota, sum_);
  }

 private:
  net::EventLoop* const asker_;
  std::function<void(const BorrowedUnits&)> done_;
  std::mutex mutex_;
  BorrowedUnits sum_;
};

}  // namespace

void LeaseStore::Report(const core::KeyView& key, const core::Quota& quota,
                        std::function<void(const BorrowedUnits&)> done) {
  const Attachment* const own = Own();
  if (own == nullptr) {
    done({});
    return;
  }
  const auto reports = std::make_shared<Reports>(own->loop_, std::move(done));
  EachBook(key, quota, [reports, quota](Borrower& book, const store::Fingerprint& fingerprint) {
    reports->Take(book, fingerprint, quota);
  });
}

void LeaseStore::ForgetDenial(core::Sync sync, const core::KeyView& key, const core::Quota& quota) {
  // Other loops learn of it when they borrow again.
  if (Attachment* const own = sync == core::Sync::kLease ? Own() : nullptr; own != nullptr) {
    own->borrower_->ForgetDenial(FingerprintOf(key, quota));
  }
}

void LeaseStore::Refund(store::RefundCall& call) {
  if (call.is_undo && call.sync == core::Sync::kLease) {
    Attachment* const own = Own();
    if (own != nullptr &&
        own->borrower_->TakeBack(FingerprintOf(call.key, call.quota), call.units)) {
      call.error = store::StoreError::kNone;
      call.OnAnswered();
      return;
    }
  }
  ForgetDenial(call.sync, call.key, call.quota);
  StoreOf(call.sync).Refund(call);
}

void LeaseStore::Reset(store::ResetCall& call) {
  if (call.sync == core::Sync::kLease) {
    EachBook(call.key, call.quota,
             [](Borrower& borrower, const store::Fingerprint& key) { borrower.Drop(key); });
  }
  StoreOf(call.sync).Reset(call);
}

void LeaseStore::Settle(store::SettleCall& call) {
  if (call.units < call.charged) {
    ForgetDenial(call.sync, call.key, call.quota);
  }
  StoreOf(call.sync).Settle(call);
}

void LeaseStore::Release(store::HoldCall& call) {
  ground_.shared.Release(call);
}

void LeaseStore::Renew(store::HoldCall& call) {
  ground_.shared.Renew(call);
}

void LeaseStore::Ban(store::BanCall& call) {
  ground_.shared.Ban(call);
}

void LeaseStore::Unban(store::BanCall& call) {
  ground_.shared.Unban(call);
}

void LeaseStore::ListBans(store::BansCall& call) {
  ground_.shared.ListBans(call);
}

}  // namespace sluice::lease
