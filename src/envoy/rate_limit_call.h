#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/request_id.h"
#include "base/trace_parent.h"
#include "envoy/applied_limits.h"
#include "envoy/configuration.h"
#include "envoy/over_limit_cache.h"
#include "envoy/response_builder.h"
#include "service/charge_call.h"
#include "service/completion.h"
#include "store/key_store.h"
#include "wire/rls_request.h"
#include "wire/rls_response.h"

namespace sluice::envoy {

class RateLimitService;

// One ShouldRateLimit on its way through RateLimitService::Decide(). Its sender owns it and reuses
// it, so that nothing is allocated once warm. It stays alive and unmoved from Decide() until
// its completion. One thread.
//
// service::ChargeCall decides it, as it decides the requests of all front ends. Two steps of
// Envoy's service come before: negative hits are refunded, and
// STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT reads all counters. ResponseBuilder comes after.
class RateLimitCall {
 public:
  // `completion` outlives it.
  explicit RateLimitCall(service::CompletionOf<RateLimitCall>& completion)
      : completion_(completion) {}
  RateLimitCall(const RateLimitCall&) = delete;
  RateLimitCall& operator=(const RateLimitCall&) = delete;

  // In. Alive, with the bytes that it views, until the completion.
  const wire::RlsRequest* request = nullptr;
  store::StoreCall::Deadline deadline = store::StoreCall::Deadline::max();
  base::RequestId request_id;
  base::TraceParent trace;
  std::string_view listener;  // That received it, for records. Outlives the call.

  enum class Failure : std::uint8_t {
    kNone,
    kBadRequest,
    kNoConfiguration,
    kTooMany,  // More limits than are judged at once.
    kStore,
  };
  // Out. `response` is set if `failure` is kNone. What it points to is valid until the call is used
  // again.
  Failure failure = Failure::kNone;
  std::string_view failure_text;
  wire::RlsResponse response;

  // Releases the configuration, which `response` refers to: for a call that returns to its pool.
  void Rest() noexcept { configuration_.reset(); }

 private:
  friend class RateLimitService;
  friend class service::ChargeCallOf<RateLimitCall>;

  // The hits of one descriptor, taken back.
  class HitRefund final : public store::RefundCall {
   public:
    explicit HitRefund(RateLimitCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnRefunded(*this); }

   private:
    RateLimitCall& call_;
  };
  // The look at all counters before they count.
  class Look final : public store::CheckCall {
   public:
    explicit Look(RateLimitCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnLooked(); }

   private:
    RateLimitCall& call_;
  };

  void Decide(RateLimitService& service, const std::shared_ptr<const Configuration>& configuration,
              service::ChargeBatch& batch);
  [[nodiscard]] bool IsAcceptable();
  void Match();
  void AddCheck(AppliedLimit& applied);
  void AddRefund(const AppliedLimit& applied);
  void SendRefunds();
  void OnRefunded(const HitRefund& refund) noexcept;
  [[nodiscard]] store::CheckCall& PrepareLook();
  void OnLooked() noexcept;
  void OnCharged() noexcept;
  void Record() noexcept;
  [[nodiscard]] std::shared_ptr<const void> ChargeKeeper() const { return configuration_; }
  void TakeDecision(AppliedLimit& applied) const;
  [[nodiscard]] OverLimitCache::Window WindowNow(const core::Quota& quota) const;
  void Fail(Failure why, std::string_view text);

  service::CompletionOf<RateLimitCall>& completion_;
  RateLimitService* service_ = nullptr;
  std::shared_ptr<const Configuration> configuration_;
  std::int64_t now_s_ = 0;  // By the wall clock, where the cache of counters is in use.
  AppliedLimits limits_;
  service::ChargeCallOf<RateLimitCall> charge_{*this};
  std::deque<HitRefund> refunds_;
  std::size_t refunds_left_ = 0;
  bool must_look_ = false;
  Look look_{*this};
  std::vector<store::CheckAnswer> looks_;
  ResponseBuilder builder_;
};

}  // namespace sluice::envoy
