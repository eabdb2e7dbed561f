#include "signing/keyring.h"

#include <algorithm>
#include <chrono>

#include "signing/mac.h"
#include "wire/base64.h"

namespace sluice::signing {

namespace {

constexpr char kVersion = 2;  // Version 1 had no proof.
constexpr std::size_t kHeadBytes = 8;
constexpr std::size_t kProofBytes = 16;
constexpr auto kPeriodLength = std::chrono::hours(24 * 30);

void PutNumber(std::uint64_t number, std::size_t bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes; ++i) {
    out += static_cast<char>((number >> (8 * i)) & 255U);
  }
}

std::uint32_t NumberIn(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    number |= std::uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  return number;
}

std::string_view ProofIn(const Mac::Code& code) {
  return {reinterpret_cast<const char*>(code.data()), kProofBytes};
}

}  // namespace

class Keyring::Family {
 public:
  explicit Family(const Secret& secret)
      : secret_(secret), id_(NumberIn(ProofIn(Derive(secret, "sluice token id")).substr(0, 4))) {}

  // Identifies the secret without disclosing it.
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] bool Is(const Secret& secret) const { return secret_ == secret; }

  // Nearly always the one used last.
  [[nodiscard]] std::shared_ptr<const Mac> KeyOf(std::uint16_t period) {
    const std::lock_guard lock(mutex_);
    if (last_ == nullptr || last_period_ != period) {
      std::string label = "sluice token key ";
      PutNumber(period, 2, label);
      last_ = std::make_shared<const Mac>(Derive(secret_, label));
      last_period_ = period;
    }
    return last_;
  }

 private:
  const Secret secret_;
  const std::uint32_t id_;
  std::mutex mutex_;  // Guards what is below.
  std::uint16_t last_period_ = 0;
  std::shared_ptr<const Mac> last_;
};

Keyring::Keyring(const Secret& own, const base::Clock& clock)
    : clock_(clock), own_(std::make_shared<Family>(own)) {}
Keyring::~Keyring() = default;

void Keyring::SetShared(const Secret& secret) {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::ranges::find_if(shared_, [&](const auto& family) { return family->Is(secret); });
  if (known != shared_.end()) {
    std::rotate(shared_.begin(), known, known + 1);
    return;
  }
  shared_.insert(shared_.begin(), std::make_shared<Family>(secret));
  if (shared_.size() > kMostShared) {
    shared_.pop_back();
  }
}

std::uint16_t Keyring::Period() const {
  const auto periods = clock_.Read().wall_clock.time_since_epoch() / kPeriodLength;
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(periods, 0, UINT16_MAX - 1));
}

std::shared_ptr<Keyring::Family> Keyring::Sealing() const {
  const std::lock_guard lock(mutex_);
  return shared_.empty() ? own_ : shared_.front();
}

std::vector<std::shared_ptr<Keyring::Family>> Keyring::Named(std::uint32_t id) const {
  std::vector<std::shared_ptr<Family>> named;
  if (own_->id() == id) {
    named.push_back(own_);
  }
  const std::lock_guard lock(mutex_);
  std::ranges::copy_if(shared_, std::back_inserter(named),
                       [id](const auto& family) { return family->id() == id; });
  return named;
}

void Keyring::Seal(TokenKind kind, std::string_view payload, std::string& token) const {
  const std::shared_ptr<Family> family = Sealing();
  const std::uint16_t period = Period();
  std::string bytes;
  bytes.reserve(kHeadBytes + payload.size() + kProofBytes);
  bytes += static_cast<char>(kind);
  bytes += kVersion;
  PutNumber(family->id(), 4, bytes);
  PutNumber(period, 2, bytes);
  bytes += payload;
  bytes += ProofIn(family->KeyOf(period)->Of(bytes));
  wire::AppendBase64Url(token, bytes);
}

Opened Keyring::Open(TokenKind kind, std::string_view token, std::string& payload) const {
  payload.clear();
  std::string bytes;
  if (!wire::AppendFromBase64Url(bytes, token) || bytes.empty() ||
      bytes.front() != static_cast<char>(kind)) {
    return Opened::kMalformed;
  }
  if (bytes.size() < kHeadBytes + kProofBytes || bytes[1] != kVersion) {
    return Opened::kForged;
  }
  const std::string_view sealed = std::string_view(bytes).substr(0, bytes.size() - kProofBytes);
  const std::string_view proof = std::string_view(bytes).substr(sealed.size());
  const std::uint32_t period = NumberIn(sealed.substr(6, 2));
  if (period > Period() + 1U) {  // Another node's clock may be ahead of ours.
    return Opened::kForged;
  }
  const auto families = Named(NumberIn(sealed.substr(2, 4)));
  for (const std::shared_ptr<Family>& family : families) {
    const auto key = family->KeyOf(static_cast<std::uint16_t>(period));
    if (SameBytes(ProofIn(key->Of(sealed)), proof)) {
      payload = sealed.substr(kHeadBytes);
      return Opened::kGood;
    }
  }
  if (!families.empty()) {
    return Opened::kForged;
  }
  const std::lock_guard lock(mutex_);
  return awaits_shared_ && shared_.empty() ? Opened::kNotYet : Opened::kForeign;
}

}  // namespace sluice::signing
