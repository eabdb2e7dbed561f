#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/key.h"
#include "core/quota.h"
#include "store/receipt.h"
#include "store/slot.h"

namespace sluice::store {

inline constexpr std::size_t kSecretBytes = 192;
using HashSecret = std::array<std::uint8_t, kSecretBytes>;
// Clients cannot choose keys that collide under it.
[[nodiscard]] HashSecret DrawHashSecret();

// Fingerprints keys: XXH3-128, keyed by a table's secret, of the rule id, the shape and the typed
// parts, as core::DigestInput lays them out. Immutable.
class KeyHash {
 public:
  explicit KeyHash(const HashSecret& secret) : secret_(&secret) {}

  // Of `key` under `rule` (its own id or the former one). Never all zero, which marks an
  // empty slot. Allocates nothing; keys up to about 500 bytes take the short path.
  [[nodiscard]] Fingerprint Of(std::string_view rule, const core::KeyView& key,
                               const core::Quota& quota) const;

  // What a table keeps beside a key, under fingerprints that no key has. A ban and the denials that
  // lead to one go by rule and parts alone: no change of the shape lifts a ban.
  struct BanKeys {
    Fingerprint ban;
    Fingerprint denials;
  };
  [[nodiscard]] BanKeys OfBan(std::string_view rule, const core::KeyView& key) const;
  // The mark of the key's last reset.
  [[nodiscard]] Fingerprint OfReset(std::string_view rule, const core::KeyView& key,
                                    const core::Quota& quota) const;
  // The mark of a charge that was settled.
  [[nodiscard]] Fingerprint OfSettled(const Receipt& receipt) const;

  // A number that no other table and no other store has; above 1.
  [[nodiscard]] std::uint64_t TableId() const;

 private:
  const HashSecret* secret_;
};

}  // namespace sluice::store
