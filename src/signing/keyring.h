#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "signing/secret.h"

namespace sluice::signing {

// What a token is for. One of a kind is never taken for another.
enum class TokenKind : char { kHold = 'h', kReceipt = 'r', kReservation = 's' };

enum class Opened : std::uint8_t {
  kGood,       // It was sealed as this kind, by a secret that is known here, and is as it was.
  kMalformed,  // It is no token of this kind.
  kForged,     // It looks like one, and its proof does not hold.
  kForeign,    // It may be one, sealed by a secret that is not known here.
  kNotYet,     // It may be another node's: the secret of all nodes is not known yet.
};

// Seals what is given to callers to be handed in later, so that it comes back as it was or is
// noticed. A token is text of letters, digits, '-' and '_': base64url of
//
//   kind (1 byte), version (1), id of the secret (4), period (2), payload, proof (16)
//
// where the proof is HMAC-SHA256, cut to 128 bits, of all that stands before it. The key is derived
// from the secret and the period, a number of 30 days since 1970 by this node's wall clock: keys
// change by themselves, at the same time on all nodes, and those of all periods so far can be made
// again, so that a change invalidates nothing that is out.
//
// Tokens are sealed by the secret that all nodes share, if there is one and it is known, else by
// this node's own. Both open here; this node's own open nowhere else. Safe from any thread.
class Keyring {
 public:
  // `own`: this node's. `clock` outlives it.
  Keyring(const Secret& own, const base::Clock& clock);
  ~Keyring();
  Keyring(const Keyring&) = delete;
  Keyring& operator=(const Keyring&) = delete;

  // There is a secret that nodes share, and it will come: until then no token is called foreign
  // that another node may have sealed. Before other threads use this.
  void AwaitShared() { awaits_shared_ = true; }
  // From now on new tokens are sealed by it. Those of the last kMostShared still open.
  void SetShared(const Secret& secret);
  static constexpr std::size_t kMostShared = 8;

  // Appends a token. `payload`: any bytes. About 2 us, as Open() (docs/benchmarks.md).
  void Seal(TokenKind kind, std::string_view payload, std::string& token) const;
  // Any bytes may be given. `payload` is what was sealed if this is kGood; else it is empty.
  [[nodiscard]] Opened Open(TokenKind kind, std::string_view token, std::string& payload) const;

 private:
  class Family;  // The keys that come of one secret.

  [[nodiscard]] std::uint16_t Period() const;
  [[nodiscard]] std::shared_ptr<Family> Sealing() const;
  [[nodiscard]] std::vector<std::shared_ptr<Family>> Named(std::uint32_t id) const;

  const base::Clock& clock_;
  const std::shared_ptr<Family> own_;
  bool awaits_shared_ = false;
  mutable std::mutex mutex_;                     // Guards what is below.
  std::vector<std::shared_ptr<Family>> shared_;  // The newest first.
};

}  // namespace sluice::signing
