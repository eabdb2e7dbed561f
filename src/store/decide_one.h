#pragma once

#include "store/block.h"
#include "store/key_store.h"
#include "store/table_core.h"

namespace sluice::store {

// The plain case, which is nearly every request: one check, on an algorithm without entries. What
// a decision costs is what it costs here.
[[nodiscard]] inline bool IsPlain(const CheckCall& call) {
  return call.checks.size() == 1 && call.checks[0].ban == nullptr &&
         !call.checks[0].quota.unlimited &&
         !core::Is<&core::AlgorithmTraits::has_items>(call.checks[0].quota.algorithm);
}

// Judges a request that IsPlain(). `key` is the fingerprint of its key.
void DecideOne(TableCore& core, const Turn& turn, const CheckCall& call, const Fingerprint& key);

}  // namespace sluice::store
