#pragma once

#include <memory>

#include "rules/rule_set.h"
#include "store/key_store.h"

namespace sluice::service {

// Gives back what `store` charged for a check of a request that was denied in the end, because this
// node denied what the store did not answer: all or nothing holds for what is left of a store, too.
// No caller waits for the answer; what the store cannot take back stays charged and expires.
//
// `rules`: what the check's quota points into. Allocates: for requests that are degraded and
// denied.
void TakeBack(store::KeyStore& store, std::shared_ptr<const rules::RuleSet> rules,
              const store::Check& check, const store::CheckAnswer& answer);

}  // namespace sluice::service
