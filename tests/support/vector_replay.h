#pragma once

#include <functional>

#include "sluice/time.h"

#include "core/quota.h"
#include "store/key_store.h"
#include "support/manual_clock.h"
#include "support/vectors.h"

namespace sluice::support {

// A store that is to answer as the vectors say, and how it is asked.
struct VectorStore {
  store::KeyStore& store;
  ManualClock& clock;            // Which the store reads.
  std::function<void()> pump{};  // Delivers answers that are late.
  Duration resolution{1};        // In which the store counts: its waits are rounded up to it.
  bool in_company = false;       // Each check together with one of another key.
  core::Sync sync = core::Sync::kExact;
};

// A clock that reads the time at which the case begins: stores are made with it.
void SetClock(ManualClock& clock, const VectorCase& vectors);

// Plays one case to a store and holds every answer against the vectors, with gtest's expectations.
// `key_text` is unlike those of all cases played before to this store.
void PlayVectors(const VectorCase& vectors, const VectorStore& to, const std::string& key_text);

}  // namespace sluice::support
