#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/request.h"
#include "wire/resp_reply_parser.h"

namespace sluice::redis {

class Channel;

// A request in flight, or a command that no caller waits for.
struct Command {
  using Time = store::StoreCall::Deadline;
  // What the channel does with the reply.
  using OnReply = void (Channel::*)(Command& command, Reply reply, Time now);

  // Whether it is worth sending: a request with a waiting sender, or an undo.
  [[nodiscard]] bool wanted() const { return request.call() != nullptr || !bytes.empty(); }

  OnReply on_reply = nullptr;
  Request request{};
  Time deadline = Time::max();
  Time begun{};                      // When a channel got it first.
  std::optional<ScriptId> script{};  // That it runs.
  std::uint8_t attempts = 0;
  bool by_reply = false;    // Judge calendars by the time in the call's `now`.
  bool asking = false;      // Of a slot that is moving there (Redis Cluster).
  bool may_repeat = false;  // It does no harm if it runs twice.
  std::uint16_t slot = 0;   // Redis Cluster only.
  std::string bytes{};      // Of what takes back a charge: all that is sent.
  // Of a check that no caller waits for any more: what takes back its charges. One for each check
  // that was asked, in order, or one for all.
  std::vector<Undo> undos{};
};

// The order of commands on one connection, and how long they have waited. Redis answers commands in
// the order in which it got them, so a reply belongs to the oldest command without one. No I/O, and
// time is an argument. Verbs may be called while a command is handled. One thread.
class Pipeline {
 public:
  using Time = Command::Time;

  // What is to be sent. After appending a command, call Expect() before anything else.
  [[nodiscard]] std::string& output() { return output_; }
  void Expect(Command command);
  // Swaps what is to be sent into `out`, which is emptied first. It counts as sent.
  void TakeOutput(std::string& out);

  // For a connection to come.
  void Wait(Command command);
  [[nodiscard]] std::deque<Command> TakeWaiting();

  void Append(std::string_view input) { parser_.Append(input); }
  // The next reply, reply(), and the command that it belongs to. False: there is none yet, or, if
  // fault() is not empty, there never will be.
  [[nodiscard]] bool Next(Command& command);
  [[nodiscard]] Reply reply() const { return parser_.reply(); }
  [[nodiscard]] const std::string& fault() const { return fault_; }

  // A new connection begins.
  void Begin();
  // The connection ended. What provably did not run, or may run twice (`resend_all`: anything),
  // waits for the next one; returns the others that were wanted, in order.
  [[nodiscard]] std::vector<Command> End(bool resend_all);

  // Not before this is a deadline over; max(): never.
  [[nodiscard]] Time next_deadline() const { return next_deadline_; }
  struct Late {
    std::vector<Command*> sent;    // Their replies still come. Valid until the next change.
    std::vector<Command> waiting;  // Taken out.
  };
  // The requests whose deadline is over at `now`.
  [[nodiscard]] Late TakeLate(Time now);
  // Everything is taken out.
  [[nodiscard]] std::vector<Command> Clear();

  [[nodiscard]] std::size_t in_flight() const { return in_flight_.size(); }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  void Watch(Time deadline) { next_deadline_ = std::min(next_deadline_, deadline); }

  wire::RespReplyParser parser_;
  std::string fault_;
  std::string output_;
  std::deque<Command> in_flight_;  // In the order of their replies.
  std::size_t unsent_ = 0;         // Of in_flight_, the last: still in output_.
  std::deque<Command> waiting_;    // Not written yet.
  Time next_deadline_ = Time::max();
};

}  // namespace sluice::redis
