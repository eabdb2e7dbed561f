#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/attribute.h"

#include "frontend/pool.h"
#include "service/decide_call.h"
#include "service/operator_call.h"
#include "service/throttle_call.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

class Connection;
class FrontEnd;

// One command and its answer, where the answer is not there at once: because a store is asked, or
// because an answer before it is awaited. Pooled, so that a command in steady state allocates
// nothing; the call that a store holds lives in here, so an exchange outlives its connection where
// the client went away before the store answered.
class Exchange {
 public:
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  [[nodiscard]] bool ready() const { return ready_; }
  // Appends the answer. Requires ready().
  virtual void Render(std::string& out) const = 0;
  // Back to its pool. Nobody holds it any more.
  virtual void Return() noexcept = 0;

  // The connection is gone: back to the pool, now or when the store has answered.
  void Abandon() noexcept {
    connection_ = nullptr;
    if (ready_) {
      Return();
    }
  }

 protected:
  Exchange() = default;
  void Start(Connection& connection, bool ready) {
    connection_ = &connection;
    ready_ = ready;
  }
  [[nodiscard]] bool abandoned() const { return connection_ == nullptr; }
  void BecomeReady() noexcept;

 private:
  Connection* connection_ = nullptr;  // None: abandoned.
  bool ready_ = false;
};

// An answer that is known, behind one that is not.
class TextExchange final : public Exchange {
 public:
  explicit TextExchange(Pool<TextExchange>& pool) : pool_(pool) {}

  std::string& Begin(Connection& connection) {
    Start(connection, true);
    text_.clear();
    return text_;
  }
  void Render(std::string& out) const override { out += text_; }
  void Return() noexcept override { pool_.Return(*this); }

 private:
  Pool<TextExchange>& pool_;
  std::string text_;
};

// CL.THROTTLE.
class ThrottleExchange final : public Exchange, public service::ThrottleCall {
 public:
  explicit ThrottleExchange(Pool<ThrottleExchange>& pool) : pool_(pool) {}

  void Begin(Connection& connection, std::string_view key, const core::Quota& quota, Cost cost) {
    Start(connection, false);
    key_.assign(key);
    Ask(key_, quota, cost);
  }
  void OnDecided() noexcept override { BecomeReady(); }
  void Render(std::string& out) const override;
  void Return() noexcept override { pool_.Return(*this); }

 private:
  Pool<ThrottleExchange>& pool_;
  std::string key_;
};

// The rule and the attributes that a SLUICE command names, and the bytes that they view.
class NamedRequest {
 public:
  // `args` from the rule on; each but the first is name=value. An empty text: they were read; else
  // what is wrong.
  [[nodiscard]] std::string_view Read(std::span<const std::string_view> args);

  [[nodiscard]] Attributes attributes() const { return attributes_; }
  [[nodiscard]] std::string_view only_rule() const { return only_rule_; }  // "" for *.

 private:
  std::string text_;
  std::string_view only_rule_;
  std::vector<Attribute> attributes_;
};

// SLUICE.CHECK and SLUICE.STATUS.
class VerdictExchange final : public Exchange, public service::DecideCall {
 public:
  explicit VerdictExchange(Pool<VerdictExchange>& pool) : pool_(pool) {}

  // `named` was read, cost and the like are set.
  void Begin(Connection& connection, const FrontEnd& front_end, wire::RespVersion version) {
    Start(connection, false);
    front_end_ = &front_end;
    version_ = version;
    attributes = named.attributes();
    only_rule = named.only_rule();
    answer_.clear();
  }
  void OnVerdict() noexcept override;
  void Render(std::string& out) const override { out += answer_; }
  void Return() noexcept override { pool_.Return(*this); }

  NamedRequest named;
  // Whether the answer has a receipt, a reservation; then want_receipts is set.
  bool receipt = false;
  bool reserve = false;

 private:
  Pool<VerdictExchange>& pool_;
  const FrontEnd* front_end_ = nullptr;
  wire::RespVersion version_ = wire::RespVersion::k2;
  std::string answer_;  // Made while what a verdict points to lives.
};

// SLUICE.RESET and SLUICE.REFUND.
class OperatorExchange final : public Exchange, public service::OperatorCall {
 public:
  explicit OperatorExchange(Pool<OperatorExchange>& pool) : pool_(pool) {}

  void Begin(Connection& connection) {
    Start(connection, false);
    attributes = named.attributes();
    only_rule = named.only_rule();
  }
  void OnDone() noexcept override { BecomeReady(); }
  void Render(std::string& out) const override;
  void Return() noexcept override { pool_.Return(*this); }

  NamedRequest named;

 private:
  Pool<OperatorExchange>& pool_;
};

}  // namespace sluice::frontend::resp
