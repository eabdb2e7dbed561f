#include "service/take_back.h"

#include <string>
#include <utility>
#include <vector>

#include "core/key.h"
#include "store/packed_key.h"

namespace sluice::service {

namespace {

store::KeptKey KeptOf(const core::KeyView& key) {
  store::KeptKey kept;
  kept.rule = key.rule;
  for (const core::KeyPart& part : key.parts) {
    kept.parts.push_back({.attribute = std::string(part.attribute),
                          .type = part.type,
                          .value = std::string(part.value)});
  }
  return kept;
}

// A call that owns all it points to, and itself.
template <class Verb>
class OwnVerb final : public Verb {
 public:
  OwnVerb(std::shared_ptr<const rules::RuleSet> rules, const store::Check& check)
      : rules_(std::move(rules)), kept_(KeptOf(check.key)), parts_(kept_.Views()) {
    this->key = {.rule = kept_.rule, .formerly = {}, .parts = parts_};
    this->quota = check.quota;
  }

  void OnAnswered() noexcept override { delete this; }

 private:
  std::shared_ptr<const rules::RuleSet> rules_;
  store::KeptKey kept_;
  std::vector<core::KeyPart> parts_;
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
