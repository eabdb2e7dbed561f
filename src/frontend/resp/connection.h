#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/conversation.h"
#include "frontend/exchanges.h"
#include "frontend/resp/exchange.h"
#include "net/timer_wheel.h"
#include "wire/resp_command_parser.h"
#include "wire/resp_writer.h"

namespace sluice::frontend::resp {

class FrontEnd;

// What a connection remembers from command to command.
struct Session {
  std::uint64_t id = 0;
  wire::RespVersion version = wire::RespVersion::k2;
  bool authenticated = false;  // Or no password is required.
  bool on_this_host = false;   // Came over a loopback address.
  int failed_logins = 0;
  std::string name;
};

// One client's connection. Per turn: a read buffer is parsed to its end, all its checks go to
// the service as one batch, and what is ready goes out in one write, to any depth of pipelining.
//
// Answers leave in the order of their commands, even if the store answers late or out of order. A
// client is bounded: while `pipeline` commands are unanswered, or `output_bytes` are unread by it,
// nothing more is read from it. A timer limits unauthenticated clients, commands that do not end,
// idleness and blocked writes.
class Connection final : public Conversation {
 public:
  Connection(FrontEnd& front_end, std::unique_ptr<net::Transport> transport, std::uint64_t id);

  // For the handlers of commands (commands.h), which answer each command by exactly one of these.
  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] FrontEnd& front_end() { return front_end_; }
  // An immediate answer: one value, or an aggregate with all its values.
  [[nodiscard]] wire::RespWriter Reply();
  // An exchange, whose operation the handler fills and passes to Ask(), or to Refuse().
  [[nodiscard]] Exchange& TakeExchange();
  // Submits nothing: the answer is the fault.
  void Refuse(Exchange& exchange, std::string_view fault);
  // Submits it with the others of this turn, in their order, for an answer of the service.
  void Ask(Exchange& exchange, Exchange::Writer write);
  // Nothing is read after this command, whose answer is the last.
  void CloseAfterwards() { last_taken_ = true; }
  // Resets the client's name, protocol and login.
  void ResetSession();
  void SetAuthenticated();

  // One of this connection's exchanges became ready.
  void OnExchangeReady() { SettleSoon(); }

 private:
  // What the connection expects from its client. Each has a time limit, except the first.
  enum class Awaiting : std::uint8_t { kNothing, kCommand, kRest };

  void OnBytes(std::size_t size) override;
  void Proceed() override;
  [[nodiscard]] Next WhatNext() const override;
  [[nodiscard]] bool MayRead() const override { return parsed_all_ && !last_taken_; }
  [[nodiscard]] std::span<char> Room() override;
  [[nodiscard]] net::SteadyTime Deadline() override;
  [[nodiscard]] bool OnDeadline() override;
  void OnClose() override { pipeline_.AbandonAll(); }

  void TakeCommands();
  bool RenderReady();
  // One answer, as it goes out.
  void Count(std::string_view answer);

  [[nodiscard]] bool MayTake() const;
  [[nodiscard]] Awaiting WhatIsAwaited() const;

  FrontEnd& front_end_;
  Session session_;
  wire::RespCommandParser parser_;
  Pipeline<Exchange> pipeline_;
  std::vector<service::Operation*> batch_;  // To be submitted in this turn.

  net::SteadyTime opened_at_;
  Awaiting awaiting_ = Awaiting::kNothing;
  net::SteadyTime awaiting_since_;

  bool parsed_all_ = true;   // Nothing can be parsed before more bytes arrive.
  bool progressed_ = false;  // A complete command arrived in this turn.
  bool last_taken_ = false;  // The last command: nothing is read after it.
};

}  // namespace sluice::frontend::resp
