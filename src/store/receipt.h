#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "core/key.h"
#include "core/quota.h"

// What an answer returns for later use: a hold, and the receipt of a charge. This file defines them
// and their bytes; src/signing/ signs them as tokens. Neither proves anything by itself.
namespace sluice::store {

// The store that granted it: each table is one, and a store that nodes share is one. 0: not known.
using StoreId = std::uint64_t;
inline constexpr StoreId kSharedStoreId = 1;

// Names one hold of one key until it expires. 0 is none. Unique within a store.
using HoldId = std::uint64_t;

// Names one charge of one key, for a settlement.
struct Receipt {
  std::int64_t charged_at_ns = 0;  // By the store's monotonic clock.
  std::uint64_t nonce = 0;         // Makes the receipt work once. 0: no receipt was requested.
  StoreId store_id = 0;            // Also where a hold was granted.

  bool operator==(const Receipt&) const = default;
};

// A charge with everything that it was judged by.
struct Charge {
  Receipt receipt;
  Units units = 0;
  Units limit = 0;  // A plan's or an override's, and the rate too.
  Units rate = 0;
  std::uint64_t shape = 0;  // core::ShapeDigest() of the quota.

  bool operator==(const Charge&) const = default;
};

struct GrantedHold {
  HoldId id = 0;
  StoreId store_id = 0;

  bool operator==(const GrantedHold&) const = default;
};

// As bytes: the key (core::KeyForm::kCounted), then numbers of 8 bytes, the lowest byte first; of a
// charge store, time, nonce, units, limit, rate and shape. They are out with clients: they stay.
void AppendCharge(const core::KeyView& key, const Charge& charge, std::string& out);
void AppendHold(const core::KeyView& key, const GrantedHold& hold, std::string& out);

// Reads one from the front of `bytes`, which may be any bytes. False, with all of these
// unspecified, if they are no such form, or if a number of units is above kMaxUnits.
[[nodiscard]] bool ReadCharge(std::string_view& bytes, core::Key& key, Charge& charge);
[[nodiscard]] bool ReadHold(std::string_view& bytes, core::Key& key, GrantedHold& hold);

// Distinguishes a charge from every other one of its store, which remembers by this that it was
// settled. As bytes in a table, as text ("42:1234567890") in Redis.
[[nodiscard]] std::array<char, 16> IdBytes(const Receipt& receipt);
[[nodiscard]] std::string IdText(const Receipt& receipt);

}  // namespace sluice::store
