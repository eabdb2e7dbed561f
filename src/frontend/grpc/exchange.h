#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"

#include "envoy/rate_limit_call.h"
#include "frontend/pool.h"
#include "service/decide_call.h"
#include "wire/grpc_status.h"
#include "wire/native_check.h"
#include "wire/rls_request.h"

namespace sluice::signing {
class Keyring;
}  // namespace sluice::signing

namespace sluice::frontend::grpc {

class Connection;

// How a call ended.
struct Status {
  wire::GrpcCode code = wire::GrpcCode::kOk;
  std::string_view message{};
};

// One call on its way through a service. Pooled; lives on where the client goes away before the
// store has answered.
class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  // Appends the response's message, if the call succeeded. Requires that it is answered.
  [[nodiscard]] virtual Status Render(std::string& message) = 0;
  // Back to its pool. Nobody holds it any more.
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
  // The request's bytes are kept here: the views of what is asked are of them.
  std::string_view Keep(Connection& connection, std::string_view bytes) {
    connection_ = &connection;
    ready_ = false;
    bytes_.assign(bytes);
    return bytes_;
  }
  void BecomeReady() noexcept;

 private:
  Connection* connection_ = nullptr;  // None: abandoned.
  bool ready_ = false;
  std::string bytes_;
};

// envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit.
class RateLimitExchange final : public Exchange, public envoy::RateLimitCall {
 public:
  explicit RateLimitExchange(Pool<RateLimitExchange>& pool) : pool_(pool) {}

  // False: the bytes are no request, for the reason error() says; then it is not to be asked.
  [[nodiscard]] bool Begin(Connection& connection, std::string_view bytes, bool compatible);
  [[nodiscard]] std::string_view error() const { return request_.error(); }

  void OnDecided() noexcept override { BecomeReady(); }
  [[nodiscard]] Status Render(std::string& message) override;
  void Return() noexcept override {
    Rest();
    pool_.Return(*this);
  }

 private:
  Pool<RateLimitExchange>& pool_;
  wire::RlsRequest request_;
  bool compatible_ = true;
};

// sluice.v1.RateLimit/Check.
class CheckExchange final : public Exchange, public service::DecideCall {
 public:
  explicit CheckExchange(Pool<CheckExchange>& pool) : pool_(pool) {}

  // What is wrong with the request; kOk: it may be asked. `keys` seal what the response gives out.
  [[nodiscard]] Status Begin(Connection& connection, const signing::Keyring* keys,
                             std::string_view bytes);

  void OnVerdict() noexcept override;
  [[nodiscard]] Status Render(std::string& message) override;
  void Return() noexcept override { pool_.Return(*this); }

 private:
  Pool<CheckExchange>& pool_;
  const signing::Keyring* keys_ = nullptr;
  wire::NativeCheckRequest request_;
  std::vector<Attribute> attributes_;
  std::string response_;  // Made while the verdict's views are good.
  std::string error_;
};

}  // namespace sluice::frontend::grpc
