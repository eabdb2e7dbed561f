#pragma once

#include <array>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "conformance/store/store_fixture.h"
#include "support/store_calls.h"

namespace sluice::conformance {

// What store/key_store.h promises, asked of any store. To hold a store to it: a
// StoreFixture, and INSTANTIATE_TEST_SUITE_P(Name, KeyStoreConformance, ...) as in
// table_conformance_test.cc.
class KeyStoreConformance : public ::testing::TestWithParam<NamedFixture> {
 protected:
  KeyStoreConformance() : fixture_(GetParam().make()) {}

  store::CheckAnswer Ask(const support::OwnedKey& key, const core::Quota& quota, Units cost = 1,
                         bool peek = false);
  // Sends a call and waits for its answer.
  void Send(support::OwnedCheckCall& call);
  void Refund(const support::OwnedKey& key, const core::Quota& quota, Units units);
  void Reset(const support::OwnedKey& key, const core::Quota& quota);
  store::StoreError Release(const support::OwnedKey& key, const core::Quota& quota,
                            store::HoldId hold);
  store::StoreError Renew(const support::OwnedKey& key, const core::Quota& quota,
                          store::HoldId hold);
  // The receipt of a charge of `cost`, which must pass.
  store::Receipt Charge(const support::OwnedKey& key, const core::Quota& quota, Units cost);
  struct Settled {
    store::StoreError error = store::StoreError::kNone;
    Units units = 0;
  };
  Settled Settle(const support::OwnedKey& key, const core::Quota& quota,
                 const store::Receipt& receipt, Units charged, Units units, Duration open_for = {});
  // What is left now.
  Units Left(const support::OwnedKey& key, const core::Quota& quota) {
    return Ask(key, quota, 0, true).decision.remaining;
  }
  // How many units pass one by one, up to `most`.
  int Drain(const support::OwnedKey& key, const core::Quota& quota, int most);

  std::unique_ptr<StoreFixture> fixture_;
};

inline constexpr auto kAll = core::kRuleAlgorithms;
// Those whose use wears off or is refunded rather than released.
inline constexpr auto kMetered = core::AlgorithmsWith<&core::AlgorithmTraits::has_receipts>();

[[nodiscard]] store::Check CheckOf(const support::OwnedKey& key, const core::Quota& quota,
                                   Units cost, bool shadow = false);

// A quota of `limit` a minute under any algorithm.
[[nodiscard]] core::Quota QuotaOf(core::Algorithm algorithm, Units limit);

}  // namespace sluice::conformance
