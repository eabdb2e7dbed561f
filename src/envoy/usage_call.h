#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "envoy/applied_limits.h"
#include "envoy/configuration.h"
#include "service/charge_call.h"
#include "service/completion.h"
#include "store/key_store.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

class RateLimitService;

// An operator's request about counters: how much of their limits is used, which changes nothing and
// is not counted, or a reset. The descriptors of a request of Envoy's name the counters; its hits
// are ignored, and limits that others replace are included. Its sender owns it. It stays alive and
// unmoved from Start() until its completion. One thread.
class UsageCall {
 public:
  // `completion` outlives it.
  explicit UsageCall(service::CompletionOf<UsageCall>& completion) : completion_(completion) {}
  UsageCall(const UsageCall&) = delete;
  UsageCall& operator=(const UsageCall&) = delete;

  // In. Alive, with the bytes that it views, until its completion.
  const wire::RlsRequest* request = nullptr;
  bool reset = false;

  enum class Failure : std::uint8_t { kNone, kBadRequest, kNoConfiguration, kNoDomain, kStore };
  // Out. `failure_text`: what is wrong, and the remedy where there is one.
  Failure failure = Failure::kNone;
  std::string failure_text;
  struct Use {
    std::size_t descriptor = 0;  // Which one of the request's.
    const Limit* limit = nullptr;
    Decision decision;  // Of one hit. Not set by a reset.
  };
  // One per limit that is not unlimited. Valid until the call ends.
  std::vector<Use> uses;

  void Start(RateLimitService& service);

 private:
  friend class service::ChargeCallOf<UsageCall>;

  class Reset final : public store::ResetCall {
   public:
    explicit Reset(UsageCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnReset(*this); }

   private:
    UsageCall& call_;
  };

  // Fills `uses`, or sets `failure`.
  void Find();
  void Peek();
  void OnCharged() noexcept;
  [[nodiscard]] std::shared_ptr<const void> ChargeKeeper() const { return configuration_; }
  void SendResets();
  void OnReset(const Reset& of_limit) noexcept;
  void Fail(Failure why, std::string text);

  service::CompletionOf<UsageCall>& completion_;
  RateLimitService* service_ = nullptr;
  std::shared_ptr<const Configuration> configuration_;
  AppliedLimits limits_;
  service::ChargeCallOf<UsageCall> charge_{*this};
  std::deque<Reset> resets_;
  std::size_t resets_left_ = 0;
};

}  // namespace sluice::envoy
