#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/resp/exchange.h"
#include "frontend/resp/session.h"
#include "net/timer_wheel.h"
#include "net/transport.h"
#include "wire/resp_command_parser.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

class Door;

// One client's connection. Per turn: a read buffer is parsed to its end, all its checks go to
// the service as one batch, and what is ready goes out in one write, to any depth of pipelining.
//
// Answers leave in the order of their commands, however late or disordered the store's answers
// come (`pipeline_` is that order). What bounds a client: when `pipeline` commands lack an answer
// or `output_bytes` wait to be taken, nothing more is read from it; a timer watches strangers,
// commands that do not end, idleness and writes that get stuck.
//
// Owned by its Door and, until they end, by its reads, writes and posts. One thread.
class Connection final : public net::TransportUser,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(Door& door, std::unique_ptr<net::Transport> transport, std::uint64_t id);

  void Start();
  // Answers what was asked, or is asked within the grace, and closes.
  void Drain();
  // At once. Exchanges that a store still has come back to their pools by themselves.
  void Close();

  // For handlers of commands (commands.h), which answer each command by exactly one of these.
  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] Door& door() { return door_; }
  // The answer at once: one value, or an aggregate with all its values.
  [[nodiscard]] wire::RespWriter Reply();
  // The answer of the service, asked with the others of this turn. May not be called for what is
  // out of range.
  void AskThrottle(std::string_view key, const core::Quota& quota, Cost cost);
  [[nodiscard]] VerdictExchange& TakeVerdictExchange();
  void AskVerdict(VerdictExchange& exchange);
  [[nodiscard]] OperatorExchange& TakeOperatorExchange();
  enum class Operation : std::uint8_t { kReset, kRefund };
  void AskOperator(OperatorExchange& exchange, Operation operation);
  // Nothing is read after this command; its answer is the last.
  void CloseAfterwards() { last_taken_ = true; }
  // Forgets what the client said of itself, its login included.
  void ResetSession();
  void SetAuthenticated();

  // One of this connection's exchanges became ready.
  void OnExchangeReady();

  void OnRead(const boost::system::error_code& error, std::size_t size) noexcept override;
  void OnWritten(const boost::system::error_code& error) noexcept override;

 private:
  // What the connection waits for its client to do. Each has a time limit but the first.
  enum class Awaiting : std::uint8_t { kNothing, kCommand, kRest, kEnd };

  void TakeCommands();
  void AskBatch();
  void Settle();
  bool RenderReady();
  void StartRead();
  void StartWrite();
  void FinishIfDone();

  void Push(Exchange& exchange);
  [[nodiscard]] bool MayTake() const;
  [[nodiscard]] std::size_t waiting() const { return pipeline_.size() - first_; }
  [[nodiscard]] Awaiting WhatIsAwaited() const;
  [[nodiscard]] net::SteadyTime Deadline() const;
  void Watch();
  void OnTimer();

  Door& door_;
  std::unique_ptr<net::Transport> transport_;
  Session session_;
  wire::RespCommandParser parser_;
  std::vector<Exchange*> pipeline_;  // From `first_` on: without an answer on its way yet.
  std::size_t first_ = 0;
  std::vector<service::ThrottleCall*> throttles_;  // To be asked in this turn.
  std::vector<service::DecideCall*> verdicts_;     // The same.
  std::string output_;                             // Rendered, not being written yet.
  std::string writing_;                            // Stays put until OnWritten().

  net::Timer timer_;
  net::SteadyTime timer_at_ = net::SteadyTime::max();
  net::SteadyTime opened_at_;
  net::SteadyTime awaiting_since_;
  net::SteadyTime writing_since_;
  net::SteadyTime draining_since_;
  Awaiting awaiting_ = Awaiting::kNothing;

  bool parsed_all_ = true;    // Nothing to parse before more bytes come.
  bool progressed_ = false;   // A command came whole in this turn.
  bool last_taken_ = false;   // The command behind which nothing is read any more.
  bool input_ended_ = false;  // The client says that nothing more comes.
  bool ending_ = false;       // Our side has said so; only the client's end is awaited.
  bool draining_ = false;
  bool closed_ = false;
  bool reading_ = false;
  bool in_turn_ = false;
  bool settle_posted_ = false;
};

}  // namespace sluice::frontend::resp
