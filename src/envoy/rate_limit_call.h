#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/configuration.h"
#include "envoy/limit_fields.h"
#include "envoy/match.h"
#include "envoy/over_limit_cache.h"
#include "envoy/rate_limit_metrics.h"
#include "store/key_store.h"
#include "wire/rls_request.h"
#include "wire/rls_response.h"

namespace sluice::envoy {

class RateLimitService;

// One ShouldRateLimit on its way through RateLimitService::Decide(). Owned by its sender, who
// reuses it, so that nothing is allocated once warm; alive and unmoved from Decide() until
// OnDecided(). One thread.
//
// The way: the descriptors' limits are found, what is replaced is dropped, hits that are to be
// taken back are taken back; then all counters are asked at once. With
// STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT they are looked at before.
class RateLimitCall {
 public:
  RateLimitCall();
  RateLimitCall(const RateLimitCall&) = delete;
  RateLimitCall& operator=(const RateLimitCall&) = delete;
  virtual ~RateLimitCall() = default;

  // In. Alive, with the bytes that it views, until OnDecided().
  const wire::RlsRequest* request = nullptr;
  store::StoreCall::Deadline deadline = store::StoreCall::Deadline::max();

  enum class Failure : std::uint8_t {
    kNone,
    kBadRequest,
    kNoConfiguration,
    kTooMany,  // More limits than are judged at once.
    kStore,
  };
  // Out. Where `failure` is not kNone nothing else is said; else what `response` points to is good
  // until the call is used again.
  Failure failure = Failure::kNone;
  std::string_view failure_text;
  wire::RlsResponse response;

  // Called once, on the thread that sent the call, during Decide() or later. The last thing done
  // with the call.
  virtual void OnDecided() noexcept = 0;

 protected:
  // Lets go of the configuration, which `response` refers to: for a call that rests unused.
  void Rest() noexcept { configuration_.reset(); }

 private:
  friend class RateLimitService;

  // What becomes of one limit of one descriptor; or of a descriptor that has none.
  struct Part {
    std::size_t descriptor = 0;    // Of the request. Those of one stand together.
    const Limit* limit = nullptr;  // Of the tree; or that of `override_limit`; or none.
    bool is_negative = false;
    bool is_known_over = false;  // The cache of counters over their limit says so.
    std::int32_t check = -1;     // Which one of checks_.
    Units hits = 0;
    telemetry::CounterGroup* counters = nullptr;
    std::size_t text_begin = 0;  // Of its counter's name in texts_.
    std::size_t text_size = 0;
  };

  // Which one of its limits a descriptor's status tells.
  struct Governing {
    std::size_t part = 0;  // The first one where none has a number.
    Decision decision;
  };

  class Asked final : public store::CheckCall {
   public:
    explicit Asked(RateLimitCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnChecked(); }

   private:
    RateLimitCall& call_;
  };
  class TakenBack final : public store::RefundCall {
   public:
    explicit TakenBack(RateLimitCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnTakenBack(); }
    core::KeyPart part;

   private:
    RateLimitCall& call_;
  };
  enum class Phase : std::uint8_t { kTakeBack, kLook, kCount };

  // Finds out what to ask. False if it is decided already.
  [[nodiscard]] bool Begin(RateLimitService& service,
                           const std::shared_ptr<const Configuration>& configuration);
  void Plan(std::size_t i, const DescriptorLevel* domain);
  void NameCounter(Part& part);
  void PlanOverride(Part& part, const wire::RlsOverride& limit,
                    std::span<const wire::RlsEntry> entries);
  void DropReplaced();
  void MakeChecks();
  // The next thing to ask the store; nullptr if there is none, or it is not a check.
  [[nodiscard]] store::CheckCall* NextAsk();
  void TakeBack();
  void OnTakenBack() noexcept;
  void OnChecked() noexcept;
  void Proceed() noexcept;
  void LookAtCosts();
  // By the limit's policy, as the store gave no answer.
  [[nodiscard]] Decision DecideAlone(const Limit& limit, const store::Check& check) const;
  void Fail(Failure why, std::string_view text);
  // Makes the response of what the store said.
  void Finish() noexcept;
  std::size_t MakeStatus(std::size_t begin);
  [[nodiscard]] Decision DecisionOf(const Part& part);
  [[nodiscard]] bool CountsDenials(const Limit& limit) const;
  [[nodiscard]] Units RemainingOf(const Part& part, const Decision& decision) const;
  void FillStatus(const Part& part, const Decision& decision, wire::RlsStatus& status) const;
  void CountHits(const Part& part, const Decision& decision);
  // Whose limits are used up.
  struct Over {
    bool any_plain = false;   // Of those that are in no quota mode.
    bool all_quotas = false;  // And there is one.
  };
  [[nodiscard]] Over FindOver() const;
  void AddHeaders();
  void AddRetryAfter(const Over& over);
  void AddMetadata();
  [[nodiscard]] bool InQuotaMode(const Part& part) const;
  [[nodiscard]] OverLimitCache::Window WindowNow(const core::Quota& quota) const;

  RateLimitService* service_ = nullptr;
  std::shared_ptr<const Configuration> configuration_;
  Phase phase_ = Phase::kCount;
  std::chrono::steady_clock::time_point started_;
  std::int64_t now_s_ = 0;  // The wall's, where the cache of counters is in use.
  Asked asked_;
  std::deque<TakenBack> taken_back_;
  std::size_t taken_back_left_ = 0;
  bool store_failed_ = false;
  // Room, reused.
  std::vector<Part> parts_;
  std::vector<Governing> governing_;  // Of each descriptor.
  std::deque<Limit> overrides_;
  Match match_;
  std::string texts_;
  std::vector<core::KeyPart> key_parts_;
  std::vector<store::Check> checks_;
  std::vector<store::CheckAnswer> answers_;
  std::vector<std::string_view> replaced_;
  LimitFields fields_;
};

}  // namespace sluice::envoy
