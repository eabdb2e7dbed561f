#include "simulation/lease/slow_wire.h"

#include <utility>
#include <vector>

namespace sluice::lease {

// A call that is answered during the verb.
template <class Call>
struct OnTheSpot final : Call {
  void OnAnswered() noexcept override {}
};

// A copy of what was asked, and what came of it.
struct SlowWire::Sent {
  virtual ~Sent() = default;
  virtual void CarryOut(store::KeyStore& store) = 0;
  virtual void Answer(Duration took) = 0;

  store::StoreCall* call = nullptr;  // nullptr: it was answered.
  Duration took{};
};

struct SlowWire::SentCheck final : Sent {
  SentCheck(store::CheckCall& of, bool late) : check(&of), ends_late(late), keys(of.checks.size()) {
    call = &of;
    for (std::size_t i = 0; i < of.checks.size(); ++i) {
      keys[i].Assign(of.checks[i].key);
      checks.push_back(of.checks[i]);
      checks.back().key = keys[i].view();
    }
    done.checks = checks;
    answers.resize(checks.size());
    done.answers = answers;
    done.atomicity = of.atomicity;
    done.peek = of.peek;
  }
  void CarryOut(store::KeyStore& store) override {
    store::CheckCall* const one = &done;
    store.CheckMany({&one, 1});
  }
  void Answer(Duration way) override {
    check->error = done.error;
    check->now = done.now;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      check->answers[i] = answers[i];
      if (ends_late) {
        check->answers[i].decision.reset_after += way + std::chrono::milliseconds(30);
      }
    }
  }

  store::CheckCall* check;
  bool ends_late;
  std::vector<core::Key> keys;
  std::vector<store::Check> checks;
  std::vector<store::CheckAnswer> answers;
  OnTheSpot<store::CheckCall> done;
};

struct SlowWire::SentSettle final : Sent {
  SentSettle(store::SettleCall& of, bool as_refund) : settle(&of), blindly(as_refund), key(of.key) {
    call = &of;
    done.key = refund.key = key.view();
    done.quota = refund.quota = of.quota;
    done.receipt = of.receipt;
    done.charged = of.charged;
    done.units = of.units;
    refund.units = of.charged - of.units;
  }
  void CarryOut(store::KeyStore& store) override {
    if (blindly) {
      done.settled = done.units;
      store.Refund(refund);
    } else {
      store.Settle(done);
    }
  }
  void Answer(Duration /*way*/) override {
    settle->error = done.error;
    settle->settled = done.settled;
  }

  store::SettleCall* settle;
  bool blindly;
  core::Key key;
  OnTheSpot<store::SettleCall> done;
  OnTheSpot<store::RefundCall> refund;
};

std::int64_t SlowWire::Draw(std::int64_t below) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
}

Duration SlowWire::Way() {
  if (Draw(1000) < faults_.slow_per_thousand) {
    return Duration(Draw(faults_.longest.count()));
  }
  return std::chrono::microseconds(300 + Draw(400));
}

void SlowWire::Carry(const std::shared_ptr<Sent>& sent, Duration way) {
  const auto answer = [this, sent](store::StoreError error) {
    if (sent->call == nullptr) {
      return;
    }
    store::StoreCall* const call = std::exchange(sent->call, nullptr);
    under_way_.erase(sent);
    if (error == store::StoreError::kNone) {
      sent->Answer(sent->took);
    } else {
      call->error = error;
    }
    call->OnAnswered();
  };
  // The wire may be gone when an event comes: whatever is not answered then is not asked about.
  const bool lost = Draw(1000) < faults_.lost_per_thousand;
  const bool unheard = Draw(1000) < faults_.unheard_per_thousand;
  if (!lost) {
    const Duration back = Way();
    later_(way, [&store = shared_, sent, later = later_, unheard, back, answer, way] {
      sent->CarryOut(store);
      if (!unheard) {
        sent->took = way + back;
        later(back, [answer] { answer(store::StoreError::kNone); });
      }
    });
  }
  if (faults_.times_out) {
    later_(faults_.timeout, [answer] { answer(store::StoreError::kUnavailable); });
  } else if (lost || unheard) {
    later_(std::chrono::seconds(5), [answer] { answer(store::StoreError::kUnavailable); });
  }
}

void SlowWire::CheckMany(std::span<store::CheckCall* const> batch) {
  for (store::CheckCall* const call : batch) {
    ++calls_;
    auto sent = std::make_shared<SentCheck>(*call, faults_.ends_late);
    under_way_.insert(sent);
    Carry(sent, Way());
  }
}

void SlowWire::Settle(store::SettleCall& call) {
  ++calls_;
  auto sent = std::make_shared<SentSettle>(call, faults_.gives_back_blindly);
  under_way_.insert(sent);
  if (Draw(1000) < faults_.doubled_per_thousand) {
    auto again = std::make_shared<SentSettle>(call, faults_.gives_back_blindly);
    again->call = nullptr;
    Carry(again, Way());
  }
  Carry(sent, faults_.slow_settlements ? Duration(Draw(faults_.longest.count())) : Way());
}

void SlowWire::Cut() {
  while (!under_way_.empty()) {  // Who is answered may send more.
    const std::shared_ptr<Sent> sent = *under_way_.begin();
    under_way_.erase(under_way_.begin());
    store::StoreCall* const call = std::exchange(sent->call, nullptr);
    call->error = store::StoreError::kUnavailable;
    call->OnAnswered();
  }
}

}  // namespace sluice::lease
