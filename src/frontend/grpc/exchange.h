#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/request_id.h"
#include "envoy/rate_limit_call.h"
#include "frontend/exchanges.h"
#include "frontend/redemption.h"
#include "service/operation.h"
#include "wire/grpc_message.h"
#include "wire/native_check.h"
#include "wire/rls_request.h"

namespace sluice::frontend::grpc {

class Connection;

// The methods that a front end has.
enum class Method : std::uint8_t {
  kUnknown,
  kShouldRateLimit,
  kHealthCheck,
  kHealthWatch,
  kCheck,
  kRelease,
  kRenew,
  kSettle,
  kRefund,
};

// How a call ended.
struct Status {
  wire::GrpcCode code = wire::GrpcCode::kOk;
  std::string_view message{};
};

// One call on its way through a service. Pooled; stays alive if the client disconnects before the
// store has answered.
class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  // Appends the response's message, if the call succeeded. Requires that it is answered.
  [[nodiscard]] virtual Status Render(std::string& message) = 0;
  // The id of its request, and whether the response has it although the client sent none.
  [[nodiscard]] virtual base::RequestId& request_id() = 0;
  [[nodiscard]] virtual bool is_denied() const = 0;
  // Back to its pool. The last use of it.
  virtual void Return() noexcept = 0;

  // The client is gone: back to the pool, now or when the store has answered.
  void Abandon() noexcept {
    connection_ = nullptr;
    if (ready_) {
      Return();
    }
  }

  void* owner_context = nullptr;  // The connection's own.

 protected:
  Exchange() = default;
  void Start(Connection& connection) {
    connection_ = &connection;
    ready_ = false;
  }
  [[nodiscard]] bool abandoned() const { return connection_ == nullptr; }
  void BecomeReady() noexcept;

 private:
  Connection* connection_ = nullptr;  // None: abandoned.
  bool ready_ = false;
};

// envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit.
class RateLimitExchange final : public Exchange,
                                private service::CompletionOf<envoy::RateLimitCall> {
 public:
  explicit RateLimitExchange(Pool<RateLimitExchange>& pool) : pool_(pool) {}

  // False: the bytes are no valid request, for the reason in error(); then it must not be
  // submitted.
  [[nodiscard]] bool Begin(Connection& connection, std::string_view bytes, bool compatible);
  [[nodiscard]] std::string_view error() const { return request_.error(); }

  // To be sent.
  [[nodiscard]] envoy::RateLimitCall& call() { return call_; }
  [[nodiscard]] Status Render(std::string& message) override;
  [[nodiscard]] base::RequestId& request_id() override { return call_.request_id; }
  [[nodiscard]] bool is_denied() const override {
    return call_.response.overall_code == wire::RlsCode::kOverLimit;
  }
  void Return() noexcept override {
    call_.Rest();
    pool_.Return(*this);
  }

 private:
  void OnCompleted(envoy::RateLimitCall& /*call*/) noexcept override { BecomeReady(); }

  Pool<RateLimitExchange>& pool_;
  envoy::RateLimitCall call_{*this};
  std::string bytes_;  // The bytes that the request views.
  wire::RlsRequest request_;
  bool compatible_ = true;
};

// sluice.v1.RateLimit: Check, and Release, Renew, Settle and Refund, by which what an answer gave
// out comes back.
class NativeExchange final : public Exchange, private service::Completion {
 public:
  explicit NativeExchange(Pool<NativeExchange>& pool)
      : operation(*this), redemption_(operation), pool_(pool) {}

  // Reads the request of `method`, one of these. What is wrong with it; kOk: `operation` is to be
  // submitted. `keys` seal what the response gives out, and what comes back.
  [[nodiscard]] Status Begin(Connection& connection, const signing::Keyring* keys, Method method,
                             std::string_view bytes);

  service::Operation operation;

  [[nodiscard]] Status Render(std::string& message) override;
  [[nodiscard]] base::RequestId& request_id() override { return operation.request_id; }
  [[nodiscard]] bool is_denied() const override { return denied_; }
  void Return() noexcept override { pool_.Return(*this); }

 private:
  void OnCompleted(service::Operation& operation) noexcept override;

  [[nodiscard]] Status ReadCheck(std::string_view bytes);
  [[nodiscard]] Status ReadHolds(std::string_view bytes);
  [[nodiscard]] Status ReadSettlement(std::string_view bytes);
  [[nodiscard]] Status ReadRefund(std::string_view bytes);
  // Made while the verdict's views are good.
  void AppendVerdict(const service::Verdict& verdict, std::string& message) const;
  [[nodiscard]] Status RenderHolds(std::string& message);
  [[nodiscard]] Status RenderCharges(std::string& message);

  Redemption redemption_;
  Pool<NativeExchange>& pool_;
  const signing::Keyring* keys_ = nullptr;
  wire::NativeCheckRequest check_;
  std::string verdict_;  // The response to a check.
  bool denied_ = false;
};

}  // namespace sluice::frontend::grpc
