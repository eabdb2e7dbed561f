#include "service/take_back.h"

#include <utility>

#include "core/key.h"

namespace sluice::service {

namespace {

// A call that owns all it points to, and itself.
template <class Verb>
class OwnVerb final : public Verb {
 public:
  OwnVerb(std::shared_ptr<const rules::RuleSet> rules, const store::Check& check)
      : rules_(std::move(rules)), kept_(check.key) {
    this->key = kept_.view();
    this->quota = check.quota;
  }

  void OnAnswered() noexcept override { delete this; }

 private:
  std::shared_ptr<const rules::RuleSet> rules_;
  const core::Key kept_;
};

}  // namespace

void TakeBack(store::KeyStore& store, std::shared_ptr<const rules::RuleSet> rules,
              const store::Check& check, const store::CheckAnswer& answer) {
  if (answer.hold != 0) {
    auto* const call = new OwnVerb<store::HoldCall>(std::move(rules), check);
    call->hold = answer.hold;
    store.Release(*call);
  } else if (answer.charged) {
    auto* const call = new OwnVerb<store::RefundCall>(std::move(rules), check);
    call->units = check.cost.units;
    call->sync = check.sync;
    call->is_undo = true;
    store.Refund(*call);
  }
}

}  // namespace sluice::service
