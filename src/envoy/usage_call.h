#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "envoy/configuration.h"
#include "envoy/match.h"
#include "envoy/over_limit_cache.h"
#include "store/key_store.h"
#include "wire/rls_request.h"

namespace sluice::envoy {

class RateLimitService;

// What an operator asks of counters: how much of their limits is used, which changes nothing and is
// not counted; or that they begin anew. By a request of Envoy's, whose descriptors name them; what
// it has of hits is passed over, and limits that others replace are told with these. Owned by its
// sender, alive and unmoved from Start() until OnDone(). One thread.
class UsageCall {
 public:
  UsageCall();
  UsageCall(const UsageCall&) = delete;
  UsageCall& operator=(const UsageCall&) = delete;
  virtual ~UsageCall() = default;

  // In. Alive, with the bytes that it views, until OnDone().
  const wire::RlsRequest* request = nullptr;
  bool reset = false;

  enum class Failure : std::uint8_t { kNone, kBadRequest, kNoConfiguration, kNoDomain, kStore };
  // Out. `failure_text` says what is wrong, and the remedy where there is one.
  Failure failure = Failure::kNone;
  std::string failure_text;
  struct Use {
    std::size_t descriptor = 0;  // Which one of the request's.
    const Limit* limit = nullptr;
    Decision decision;  // On one hit. Of a reset it says nothing.
  };
  // A use per limit, none for what is not limited or unlimited. Good until the call ends.
  std::vector<Use> uses;

  void Start(RateLimitService& service);
  // Called once, on the thread that started it, during Start() or later. The last thing done with
  // the call.
  virtual void OnDone() noexcept = 0;

 private:
  class Peek final : public store::CheckCall {
   public:
    explicit Peek(UsageCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnPeeked(); }

   private:
    UsageCall& call_;
  };
  class Reset final : public store::ResetCall {
   public:
    explicit Reset(UsageCall& call) : call_(call) {}
    void OnAnswered() noexcept override { call_.OnReset(*this); }
    std::string counter;
    core::KeyPart part;

   private:
    UsageCall& call_;
  };

  void Find(const DescriptorLevel& domain);
  void Add(std::size_t descriptor, const Limit& limit, const Match& match);
  void AskPeek();
  void AskResets();
  void OnPeeked() noexcept;
  void OnReset(const Reset& of_limit) noexcept;
  void Fail(Failure why, std::string text);

  RateLimitService* service_ = nullptr;
  std::shared_ptr<const Configuration> configuration_;
  std::deque<Limit> overrides_;
  std::deque<Reset> resets_;  // A peek uses their keys.
  std::size_t resets_left_ = 0;
  std::vector<store::Check> checks_;
  std::vector<store::CheckAnswer> answers_;
  Peek peek_;
};

}  // namespace sluice::envoy
