#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "signing/mac.h"

namespace sluice::signing {

// The purpose of a token. A token of one kind is never accepted as another.
enum class TokenKind : char { kHold = 'h', kReceipt = 'r', kReservation = 's' };

enum class Opened : std::uint8_t {
  kGood,       // It was sealed as this kind, with a secret known here, and is unchanged.
  kMalformed,  // It is not a token of this kind.
  kForged,     // It looks like one, but its proof is wrong.
  kForeign,    // It may be one, sealed with a secret not known here.
  kNotYet,     // It may be another node's: the shared secret is not known yet.
};

// Seals tokens that callers send back later, so that a changed one is detected. A token is text of
// letters, digits, '-' and '_': base64url of
//
//   kind (1 byte), version (1), id of the secret (4), period (2), payload, proof (16)
//
// where the proof is HMAC-SHA256 of everything before it, truncated to 128 bits. The key is derived
// from the secret and the period: the number of 30-day periods since 1970 by this node's wall
// clock. So keys rotate at the same time on all nodes, and the keys of past periods can be derived
// again: a rotation invalidates no outstanding token.
//
// Tokens are sealed with the secret that all nodes share, if it exists and is known, otherwise with
// this node's own. Both can be opened here; tokens of this node's own secret only here. Safe from
// any thread.
class Keyring {
 public:
  // `own`: this node's. `clock` outlives it.
  Keyring(const Secret& own, const base::Clock& clock);
  ~Keyring();
  Keyring(const Keyring&) = delete;
  Keyring& operator=(const Keyring&) = delete;

  // Announces that a shared secret exists and will be set. Until then, a token that another node
  // may have sealed is not reported as foreign. Call it before other threads use this.
  void AwaitShared() { awaits_shared_ = true; }
  // New tokens are sealed with it from now on. Tokens of the last kMostShared secrets can still be
  // opened.
  void SetShared(const Secret& secret);
  static constexpr std::size_t kMostShared = 8;

  // Appends a token. `payload`: any bytes. Takes about 2 us, like Open() (docs/benchmarks.md).
  void Seal(TokenKind kind, std::string_view payload, std::string& token) const;
  // Accepts any bytes. `payload` is the sealed payload for kGood, otherwise empty.
  [[nodiscard]] Opened Open(TokenKind kind, std::string_view token, std::string& payload) const;

 private:
  class Family;  // The keys derived from one secret.

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
