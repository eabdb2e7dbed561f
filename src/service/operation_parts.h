#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "service/active_rules.h"
#include "store/key_store.h"

namespace sluice::service {

class Operation;
class Fallback;

// The store calls that one operation is split into; the operation is complete once all of them are
// answered. For verbs that are rare: each call is allocated. One thread.
class OperationParts {
 public:
  explicit OperationParts(Operation& operation) : operation_(operation) {}

  // What the verb acts on.
  struct Target {
    store::KeyStore& store;
    Fallback* fallback;  // nullptr: the store cannot be unreachable.
    std::shared_ptr<const ActiveRules> active;
    store::StoreCall::Deadline deadline;
  };

  // Begins; End() follows when all parts are sent. Keeps the rules until the operation is complete:
  // keys' names point into them.
  void Begin(const Target& target) {
    calls_.clear();
    active_ = target.active;
    deadline_ = target.deadline;
    open_ = 1;  // Held until End(), so that an early answer is not taken for the last one.
  }
  void End() { CloseOne(); }

  // One more store call. It is sent by the caller, and `receiver` is called with it once it is
  // answered.
  template <class StoreVerb, class Receiver>
  StoreVerb& Add(const core::KeyView& key, std::vector<std::string> former_ids, Receiver receiver) {
    auto part = std::make_unique<Part<StoreVerb, Receiver>>(*this, std::move(former_ids),
                                                            std::move(receiver));
    StoreVerb& call = *part;
    call.key = {.rule = key.rule, .formerly = part->former_ids, .parts = key.parts};
    call.deadline = deadline_;
    calls_.push_back(std::move(part));
    ++open_;
    return call;
  }

 private:
  template <class StoreVerb, class Receiver>
  struct Part final : StoreVerb {
    Part(OperationParts& all, std::vector<std::string> ids, Receiver receiver)
        : former_ids(std::move(ids)), all_(all), receiver_(std::move(receiver)) {}

    void OnAnswered() noexcept override {
      receiver_(*this);
      all_.CloseOne();
    }

    const std::vector<std::string> former_ids;  // The key's former ids point into this.

   private:
    OperationParts& all_;
    Receiver receiver_;
  };

  void CloseOne() noexcept;

  Operation& operation_;
  std::vector<std::unique_ptr<store::StoreCall>> calls_;
  std::shared_ptr<const ActiveRules> active_;
  store::StoreCall::Deadline deadline_;
  std::size_t open_ = 0;
};

}  // namespace sluice::service
