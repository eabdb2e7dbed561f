#pragma once

#include "base/random.h"
#include "store/key_store.h"
#include "store/table_core.h"

// What DecideOne and Request have in common.
namespace sluice::store {

// How often a request starts again because others took its slots before it had locked them.
inline constexpr int kTries = 64;

// A key that `check` asks for and that has no slot yet.
[[nodiscard]] SlotArray::Newcomer NewcomerOf(TableCore& core, const Turn& turn, const Check& check,
                                             const Fingerprint& key);

// What a check gets for which there is no room, judged as on a fresh key.
[[nodiscard]] Decision DecideFull(TableCore& core, const Turn& turn, const Check& check);

inline void Charged(const TableCore& core, const Turn& turn, const Check& check,
                    CheckAnswer& answer) {
  answer.charged = true;
  if (check.want_receipt) {
    answer.receipt = {.charged_at_ns = turn.now.line.time_since_epoch().count(),
                      .nonce = base::UniqueNumber(),
                      .store_id = core.id};
  }
}

}  // namespace sluice::store
