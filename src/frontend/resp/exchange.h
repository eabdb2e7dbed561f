#pragma once

#include <string>

#include "frontend/exchanges.h"
#include "frontend/redemption.h"
#include "service/operation.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

class Connection;

// One command that is not answered at once, because it needs the service, or because an earlier
// answer is not there: its operation, and the answer. Pooled, so that a command in steady state
// allocates nothing. A store may hold the operation, so an exchange outlives its connection if the
// client leaves before the store has answered.
class Exchange final : private service::Completion {
 public:
  // Appends the answer to `out`: the outcome of the exchange's operation.
  using Writer = void (*)(Exchange& exchange, std::string& out);

  explicit Exchange(Pool<Exchange>& pool) : operation(*this), redemption(operation), pool_(pool) {}

  // The operation. Clear() it for a new command.
  service::Operation operation;
  Redemption redemption;
  // Whether the answer to a check has a receipt, a reservation.
  bool receipt = false;
  bool reserve = false;

  // For a known answer, which is written into the result.
  [[nodiscard]] std::string& BeginText(Connection& connection) {
    Begin(connection, nullptr, wire::RespVersion::k2);
    ready_ = true;
    return text_;
  }
  // The operation must be submitted; then `write` makes the answer.
  void Begin(Connection& connection, Writer write, wire::RespVersion version) {
    connection_ = &connection;
    ready_ = false;
    write_ = write;
    version_ = version;
    text_.clear();
  }

  [[nodiscard]] Connection& connection() const { return *connection_; }
  [[nodiscard]] wire::RespWriter WriterTo(std::string& out) const { return {out, version_}; }

  [[nodiscard]] bool ready() const { return ready_; }
  // Appends the answer. Requires ready().
  void Render(std::string& out) {
    if (write_ != nullptr) {
      write_(*this, out);
    } else {
      out += text_;
    }
  }
  // Back to its pool. The last use of it.
  void Return() noexcept { pool_.Return(*this); }

  // The connection is gone: back to the pool, now or when the store has answered.
  void Abandon() noexcept {
    connection_ = nullptr;
    if (ready_) {
      Return();
    }
  }

 private:
  void OnCompleted(service::Operation& operation) noexcept override;

  Pool<Exchange>& pool_;
  Connection* connection_ = nullptr;  // None: abandoned.
  Writer write_ = nullptr;            // None: the answer is text_.
  wire::RespVersion version_ = wire::RespVersion::k2;
  bool ready_ = false;
  std::string text_;
};

}  // namespace sluice::frontend::resp
