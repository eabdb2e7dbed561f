#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::frontend {

// Longer secrets are refused where they are read.
inline constexpr std::size_t kMostTokenBytes = 512;

// The secret that a listener's clients must show, whatever its front end calls it (bearer token,
// password). May be replaced while clients show theirs. Any thread.
class AccessToken {
 public:
  // 1 to kMostTokenBytes bytes.
  explicit AccessToken(std::string_view secret) { Set(secret); }
  void Set(std::string_view secret);

 private:
  friend class TokenCheck;

  mutable std::mutex mutex_;
  std::array<char, kMostTokenBytes> secret_{};  // Padded with zeros.
  std::size_t size_ = 0;
  // Grows with each Set(). Its release pairs with the reader's acquire.
  std::atomic<std::uint64_t> version_{0};
};

// One front end's view of a listener's token on one loop. It takes the lock only if the token was
// replaced. One thread.
class TokenCheck {
 public:
  // None: all clients are admitted. `token` outlives this.
  explicit TokenCheck(const AccessToken* token) : token_(token) {}

  [[nodiscard]] bool asks() const { return token_ != nullptr; }

  // Whether `shown` is the secret. The time depends only on the length of `shown`, so it reveals
  // nothing about the secret. Requires asks().
  [[nodiscard]] bool Admits(std::string_view shown);

 private:
  const AccessToken* token_;
  std::array<char, kMostTokenBytes> secret_{};
  std::size_t size_ = 0;
  std::uint64_t version_ = 0;
};

}  // namespace sluice::frontend
