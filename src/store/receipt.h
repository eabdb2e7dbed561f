#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sluice/decision.h"

#include "core/key.h"
#include "core/quota.h"

// What an answer gives out to be handed in later: a hold, and the receipt of a charge. Here is what
// they are, and how they become bytes; src/signing/ seals these as tokens. Neither proves anything
// by itself.
namespace sluice::store {

// Which store it was: each table is one for itself, whatever nodes share is one. 0: not said.
using StoreId = std::uint64_t;
inline constexpr StoreId kSharedStoreId = 1;

// Names one hold of one key until it expires. 0 is none. Unique within a store.
using HoldId = std::uint64_t;

// Names one charge of one key: what a settlement must hand in.
struct Receipt {
  std::int64_t charged_at_ns = 0;  // By the store's monotonic clock.
  std::uint64_t nonce = 0;         // Makes it work once. 0: no receipt was asked for.
  StoreId store_id = 0;            // Also where a hold was granted.

  bool operator==(const Receipt&) const = default;
};

// A charge with all that it was judged by.
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

// Takes one from the front of `bytes`: any bytes, of whatever origin. False, with all of these as
// they may be, if none was written so, or a number of units is beyond kMaxUnits.
[[nodiscard]] bool ReadCharge(std::string_view& bytes, core::Key& key, Charge& charge);
[[nodiscard]] bool ReadHold(std::string_view& bytes, core::Key& key, GrantedHold& hold);

// What tells a charge from every other one of its store: by this a store remembers that it was
// settled. As bytes in a table, as text ("42:1234567890") in Redis.
[[nodiscard]] std::array<char, 16> IdBytes(const Receipt& receipt);
[[nodiscard]] std::string IdText(const Receipt& receipt);

}  // namespace sluice::store
