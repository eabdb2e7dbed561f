#include "frontend/access_token.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice::frontend {

void AccessToken::Set(std::string_view secret) {
  SLUICE_ASSERT(!secret.empty() && secret.size() <= kMostTokenBytes);
  const std::lock_guard lock(mutex_);
  secret_.fill('\0');
  std::copy(secret.begin(), secret.end(), secret_.begin());
  size_ = secret.size();
  // Pairs with the acquire in Admits. The secret itself is copied under the mutex.
  version_.fetch_add(1, std::memory_order_release);
}

bool TokenCheck::Admits(std::string_view shown) {
  if (token_->version_.load(std::memory_order_acquire) != version_) {
    const std::lock_guard lock(token_->mutex_);
    secret_ = token_->secret_;
    size_ = token_->size_;
    version_ = token_->version_.load(std::memory_order_relaxed);
  }
  if (shown.size() > kMostTokenBytes) {
    return false;
  }
  auto difference = static_cast<unsigned>(shown.size() != size_);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    difference |= static_cast<unsigned char>(shown[i] ^ secret_[i]);
  }
  return difference == 0;
}

}  // namespace sluice::frontend
